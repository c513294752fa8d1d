#include "store/tier/flash_head.h"

#include <algorithm>
#include <utility>

#include "core/check.h"
#include "core/log.h"
#include "store/tier/flash_range.h"

namespace forebay::store {
namespace {

// Owner calls between two turns of the loop: some tens of microseconds of work.
constexpr std::size_t kCallsPerTurn = 256;

std::uint64_t segment_offset(const FlashCore& core, std::uint32_t index) {
  return core.layout().offset_of(core.layout().segment_page(index));
}

}  // namespace

bool LogHead::fits(const Segment& segment, std::uint64_t pages, const Wanted& wanted) const {
  const SegmentRecords& records = *segment.records;
  const std::uint64_t more = wanted.kind == RecordKind::kTombstones
                                 ? wanted.data_bytes
                                 : sizeof(SummaryEntry) + sizeof(BlockId) + 4 +
                                       wanted.facts.tenant.size() +
                                       wanted.facts.layout_fingerprint.size();
  const std::uint64_t summary =
      divide_up(summary_bytes_max(records) + more, core_.layout().page_bytes);
  return segment.end_page + pages + summary + 1 <= core_.layout().segment_pages() &&
         records.space_count() + 1 < kSpacesMax;
}

Result<LogPlace> LogHead::reserve(const Wanted& wanted) {
  FOREBAY_TRY_STATUS(core_.may_write());
  const std::uint32_t pages = core_.layout().record_pages(wanted.data_bytes);
  if (const auto open = core_.segments.open_index()) {
    const Segment& segment = core_.segments.at(*open);
    const std::uint64_t window = kRecordBytesMax / core_.layout().page_bytes;
    const bool too_far = segment.end_page + pages - segment.proven_page > window;
    if (too_far && segment.pending > 0) return fail(Errc::kBusy, "flash: too much in flight");
    if (too_far || header_in_doubt(segment) || !fits(segment, pages, wanted)) {
      core_.segments.close_open();
      settle(*open);
    }
  }
  if (!core_.segments.open_index()) FOREBAY_TRY_STATUS(roll(wanted.for_reclaim));
  const std::uint32_t index = *core_.segments.open_index();
  Segment& segment = core_.segments.at(index);
  FOREBAY_CHECK(fits(segment, pages, wanted));
  LogPlace place;
  place.segment = index;
  place.sequence = segment.sequence;
  place.page = core_.layout().segment_page(index) + segment.end_page;
  place.record =
      wanted.kind == RecordKind::kBlock
          ? segment.records->add(wanted.facts, segment.end_page, RecordState::kPending)
          : segment.records->add_tombstone_record(segment.end_page, RecordState::kPending);
  segment.end_page += pages;
  ++segment.pending;
  return place;
}

bool LogHead::header_in_doubt(const Segment& segment) const {
  return segment.header == HeaderState::kFailed ||
         core_.failed_flushes() != failed_flushes_at_open_;
}

Status LogHead::roll(bool for_reclaim) {
  // One free segment is kept for what reclaim moves: without it a full tier could never empty one.
  const std::uint32_t kept = for_reclaim ? 0 : 1;
  const auto opened =
      core_.segments.free_count() > kept ? core_.segments.open_next() : std::nullopt;
  if (want_segments_ && core_.segments.free_count() < core_.options().free_segments_low) {
    want_segments_();
  }
  if (!opened) {
    // What reclaim moves can be dropped instead; it must not wait for itself.
    return for_reclaim ? Status(fail(Errc::kNoSpace, "flash: no room for copies"))
                       : Status(fail(Errc::kBusy, "flash: waiting for a free segment"));
  }
  failed_flushes_at_open_ = core_.failed_flushes();
  if (for_reclaim) ++segments_for_reclaim_;
  start(write_header(*opened, core_.segments.at(*opened).sequence));
  return {};
}

Task<void> LogHead::write_header(std::uint32_t index, std::uint64_t sequence) {
  SegmentHeader header;
  header.index = index;
  header.uuid = core_.uuid();
  header.sequence = sequence;
  header.mark = SegmentMark::kOpen;
  IoBuffer page = core_.buffers.page();
  encode_segment_header(header, page.bytes());
  RangeOptions options;
  options.op_class = block::OpClass::kDemand;
  core_.segments.pin(index);
  const auto written =
      co_await write_range(&core_, segment_offset(core_, index), std::move(page), options);
  Segment& segment = core_.segments.at(index);
  segment.header = written ? HeaderState::kWritten : HeaderState::kFailed;
  core_.segments.unpin(index);
  if (header_settled_) header_settled_();
  changed_.notify();
}

void LogHead::resolve(const LogPlace& place, std::uint64_t data_bytes, bool good) {
  Segment& segment = core_.segments.at(place.segment);
  segment.records->records()[place.record].state = good ? RecordState::kGood : RecordState::kFailed;
  if (good) {
    const std::uint32_t begin = place.page - core_.layout().segment_page(place.segment);
    const std::uint32_t end = begin + core_.layout().record_pages(data_bytes);
    segment.proven_page = std::max(segment.proven_page, end);
  }
  --segment.pending;
  settle(place.segment);
  changed_.notify();
}

void LogHead::resolve_tombstones(const LogPlace& place, std::span<const Tombstone> tombstones,
                                 bool good) {
  if (good) {
    SegmentRecords& records = *core_.segments.at(place.segment).records;
    for (const Tombstone& tombstone : tombstones) records.add_tombstone(tombstone);
  }
  resolve(place, tombstones.size_bytes(), good);
}

LogHead::Position LogHead::position() const {
  const auto open = core_.segments.open_index();
  if (!open) return {core_.segments.next_sequence(), 0};
  const Segment& segment = core_.segments.at(*open);
  return {segment.sequence, core_.layout().segment_page(*open) + segment.end_page};
}

void LogHead::give_up() {
  ++times_given_up_;
  changed_.notify();
}

void LogHead::settle(std::uint32_t index) {
  const Segment& segment = core_.segments.at(index);
  if (segment.state == SegmentState::kFull && segment.pending == 0 && !segment.sealing) {
    seal_soon(index);
  }
}

void LogHead::seal_soon(std::uint32_t index) {
  if (core_.abandoned()) return;
  core_.segments.at(index).sealing = true;
  ++seals_running_;
  start(seal(index));
}

void LogHead::start(Task<void> task) {
  tasks_.remove_if([](const Task<void>& old) { return old.done(); });
  tasks_.push_back(std::move(task));
  tasks_.back().start();
}

Task<void> LogHead::refresh_heat(std::uint32_t index) {
  std::size_t calls = 0;
  const FlashPage first = core_.layout().segment_page(index);
  SegmentRecords& records = *core_.segments.at(index).records;
  for (std::size_t i = 0; i < records.records().size(); ++i) {
    LoggedRecord& record = records.records()[i];
    if (!SegmentRecords::stands(record)) continue;
    record.heat = core_.owner().heat_of(record.id, first + record.page);
    if (++calls % kCallsPerTurn == 0) co_await core_.loop().yield();
    if (core_.abandoned()) co_return;
  }
}

Task<void> LogHead::seal(std::uint32_t index) {
  // The owner is never called from inside append(), which may have brought us here.
  co_await core_.loop().yield();
  if (!core_.abandoned()) co_await refresh_heat(index);
  if (core_.abandoned()) co_return;
  Segment& segment = core_.segments.at(index);
  const FlashLayout& layout = core_.layout();
  std::vector<std::byte> body;
  SummaryFooter footer;
  footer.index = index;
  footer.uuid = core_.uuid();
  footer.sequence = segment.sequence;
  footer.counts = encode_summary_body(*segment.records, segment.end_page, body);
  const auto body_pages = static_cast<std::uint32_t>(divide_up(body.size(), layout.page_bytes));
  footer.body_page = layout.segment_pages() - 1 - body_pages;
  footer.data_end_page = segment.end_page;
  FOREBAY_CHECK_LE(segment.end_page, footer.body_page);
  IoBuffer buffer = core_.buffers.take(std::size_t{body_pages + 1} * layout.page_bytes);
  std::ranges::fill(buffer.bytes(), std::byte{0});
  std::ranges::copy(body, buffer.data());
  encode_summary_footer(footer, buffer.bytes().last(layout.page_bytes));
  RangeOptions options;
  options.op_class = block::OpClass::kGc;
  core_.segments.pin(index);
  const std::uint64_t offset = segment_offset(core_, index) + layout.offset_of(footer.body_page);
  const auto written = co_await write_range(&core_, offset, std::move(buffer), options);
  core_.segments.unpin(index);
  --seals_running_;
  segment.sealing = false;
  if (written) {
    segment.counts = footer.counts;
    segment.body_page = footer.body_page;
    segment.records.reset();
    core_.segments.set_state(index, SegmentState::kSealed);
  }
  // A failed seal costs a scan at the next open, nothing else: the records stay in memory.
  changed_.notify();
}

}  // namespace forebay::store
