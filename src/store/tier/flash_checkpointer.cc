#include "store/tier/flash_checkpointer.h"

#include <algorithm>
#include <utility>

#include "core/bytes.h"
#include "store/tier/flash_scan.h"
#include "store/tier/flash_summary_load.h"

namespace forebay::store {
namespace {

constexpr std::uint32_t kCallsPerTurn = 256;

}  // namespace

Task<Status> Checkpointer::run(FlashCall call) {
  if (running_) co_return fail(Errc::kBusy, "flash checkpoint: one is running");
  // Not the wear limit: a checkpoint is small, and it keeps that meter too.
  FOREBAY_CO_TRY_STATUS(core_.health.device_may_write());
  running_ = true;
  RangeOptions options;
  options.op_class = block::OpClass::kCheckpoint;
  options.deadline = call.io.deadline;
  options.cancel = call.cancel;
  const Status status = co_await write_all(options);
  running_ = false;
  co_return status;
}

Task<Status> Checkpointer::write_all(RangeOptions options) {
  area_ = static_cast<std::uint32_t>((sequence_ + 1) % 2);
  Status all;
  co_await for_each_ahead(core_.segments.count(), kWidth, [&](std::uint32_t segment) {
    return write_slot(segment, options, &all);
  });
  if (!all) co_return all;
  CheckpointHeader header;
  FOREBAY_CO_TRY_STATUS(co_await write_tail(&header, options));
  FOREBAY_CO_TRY_STATUS(co_await flush_device(&core_, options));
  FOREBAY_CO_TRY_STATUS(co_await write_header(header, options));
  FOREBAY_CO_TRY_STATUS(co_await flush_device(&core_, options));
  ++sequence_;
  co_return Status{};
}

Task<void> Checkpointer::write_slot(std::uint32_t segment, RangeOptions options, Status* all) {
  const FlashLayout& layout = core_.layout();
  const Segment& at = core_.segments.at(segment);
  const std::uint64_t sequence = at.sequence;
  const auto still_there = [&] {
    return at.state == SegmentState::kSealed && at.sequence == sequence;
  };
  if (!*all || !still_there() || at.counts.record_count == 0) co_return;
  const auto summary = co_await load_summary(&core_, segment, options);
  // A damaged summary is verify()'s to report; its records keep the heat they have.
  if (!summary || !still_there()) co_return;
  IoBuffer slot = core_.buffers.take(std::size_t{layout.slot_pages} * layout.page_bytes);
  const std::size_t words_max = (slot.size() - sizeof(HeatSlotHeader)) / 4;
  HeatSlotHeader header;
  header.uuid = core_.uuid();
  header.sequence = sequence;
  header.index = segment;
  header.word_count =
      std::min(summary->view->record_count(), static_cast<std::uint32_t>(words_max));
  for (std::uint32_t i = 0; i < header.word_count; ++i) {
    const SummaryEntry entry = summary->view->entry(i);
    const std::uint32_t heat =
        core_.owner().heat_of(entry.id, layout.segment_page(segment) + entry.page);
    store_as(slot.bytes().subspan(sizeof header + std::size_t{i} * 4), heat);
    if (i % kCallsPerTurn == kCallsPerTurn - 1) co_await core_.loop().yield();
  }
  encode_heat_slot(header, slot.bytes());
  const std::uint64_t offset = layout.offset_of(layout.slot_page(area_, segment));
  const auto written = co_await write_range(&core_, offset, std::move(slot), options);
  if (!written) *all = std::unexpected(written.error());
}

Task<Status> Checkpointer::write_tail(CheckpointHeader* header, RangeOptions options) {
  const auto open = core_.segments.open_index();
  if (!open) co_return Status{};
  const FlashLayout& layout = core_.layout();
  Segment& segment = core_.segments.at(*open);
  const std::uint32_t end_page = segment.records->first_pending_page(segment.end_page);
  for (LoggedRecord& record : segment.records->records()) {
    if (!SegmentRecords::stands(record)) continue;
    record.heat = core_.owner().heat_of(record.id, layout.segment_page(*open) + record.page);
  }
  std::vector<std::byte> body;
  const SummaryCounts counts = encode_summary_body(*segment.records, end_page, body);
  if (body.size() > std::size_t{layout.tail_pages} * layout.page_bytes) {
    co_return Status{};  // the next open scans the segment instead
  }
  header->tail = counts;
  header->open_segment = *open;
  header->open_sequence = segment.sequence;
  header->open_end_page = end_page;
  if (body.empty()) co_return Status{};
  IoBuffer buffer = core_.buffers.take(body.size());
  std::ranges::fill(buffer.bytes(), std::byte{0});
  std::ranges::copy(body, buffer.data());
  const std::uint64_t offset = layout.offset_of(layout.area_page(area_) + 1);
  const auto written = co_await write_range(&core_, offset, std::move(buffer), options);
  if (!written) co_return std::unexpected(written.error());
  co_return Status{};
}

Task<Status> Checkpointer::write_header(CheckpointHeader header, RangeOptions options) {
  header.area = area_;
  header.uuid = core_.uuid();
  header.checkpoint_sequence = sequence_ + 1;
  header.next_segment_sequence = core_.segments.next_sequence();
  const FlashCounters& counters = core_.counters;
  header.device_written_bytes = counters.device_written_before + counters.device_written_bytes;
  header.host_written_bytes = counters.host_written_before + counters.host_written_bytes;
  header.wear_level_bytes = core_.wear.level_bytes(core_.now());
  IoBuffer page = core_.buffers.page();
  encode_checkpoint(header, page.bytes());
  const auto written = co_await write_range(
      &core_, core_.layout().offset_of(core_.layout().area_page(area_)), std::move(page), options);
  if (!written) co_return std::unexpected(written.error());
  co_return Status{};
}

}  // namespace forebay::store
