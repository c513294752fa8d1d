#include "store/tier/flash_log.h"

#include <fmt/core.h>

#include <optional>
#include <utility>

#include "core/log.h"
#include "store/tier/flash_recovery.h"
#include "store/tier/flash_scrub.h"

namespace forebay::store {

FlashLog::FlashLog(std::shared_ptr<FlashCore> core)
    : core_(std::move(core)),
      reader_(core_->add_part<FlashReader>()),
      writer_(core_->add_part<FlashWriter>()),
      tombstones_(*core_, *writer_),
      reclaimer_(*core_, *reader_, *writer_, tombstones_),
      checkpointer_(*core_),
      kept_(*core_),
      probe_(*core_) {}

FlashLog::~FlashLog() { core_->abandon(); }

Task<Status> FlashLog::start(Start start) {
  const bool read_only = core_->device().geometry().read_only;
  if (read_only) {
    core_->health.stay(FlashMode::kReadOnly, "the device is open for reading only");
  }
  if (!start.fresh) {
    co_await kept_.load(start.io);
    FlashRecovery recovery(*core_, start.io);
    FOREBAY_CO_TRY_STATUS(co_await recovery.run());
    if (const auto& found = recovery.checkpoint()) {
      checkpointer_.resume_after(found->checkpoint_sequence);
      core_->counters.device_written_before = found->device_written_bytes;
      core_->counters.host_written_before = found->host_written_bytes;
      core_->wear.restore(found->wear_level_bytes);
    }
    if (!read_only) {
      for (const std::uint32_t index : recovery.to_seal()) writer_->head().seal_soon(index);
    }
  }
  co_await repair_superblock(&start.damage, start.io);
  core_->counters.recovery_time = core_->now() - start.began;
  reclaimer_.start();
  // What was opened for reading stays so: there is no write to try.
  if (!read_only) probe_.start();
  co_return Status{};
}

Task<void> FlashLog::repair_superblock(const SuperblockDamage* damage, RangeOptions options) {
  bool damaged = false;
  for (std::size_t copy = 0; copy < damage->size(); ++copy) {
    const std::optional<Error>& why = (*damage)[copy];
    if (!why) continue;
    damaged = true;
    if (!core_->device().geometry().read_only) continue;
    core_->unhealed.push_back(
        {kSuperblockOffsets[copy],
         {},
         fmt::format("superblock copy {} is damaged ({}); the next writable open rewrites it",
                     copy + 1, to_string(*why))});
  }
  if (!damaged || core_->device().geometry().read_only) co_return;
  const Status repaired = co_await write_superblocks(core_.get(), options);
  if (!repaired) log_warn("flash: a superblock copy is damaged: {}", to_string(repaired.error()));
}

Task<void> FlashLog::append(std::span<FlashAppend> items, FlashCall call) {
  return writer_->append(items, call);
}

Task<void> FlashLog::read(std::span<FlashRead> items, FlashCall call) {
  return reader_->read(items, call);
}

Task<Status> FlashLog::forget(BlockId id, FlashPage page, std::uint32_t data_bytes, bool durable,
                              FlashCall call) {
  if (core_->layout().in_segments(page)) core_->segments.drop_live(page, data_bytes);
  if (!durable) co_return Status{};
  co_return co_await tombstones_.forget(id, std::move(call));
}

Task<Status> FlashLog::checkpoint(FlashCall call) { return checkpointer_.run(std::move(call)); }

Task<Status> FlashLog::keep(std::span<const std::byte> bytes, FlashCall call) {
  return kept_.keep(bytes, std::move(call));
}

Task<Result<FlashTier::VerifyResult>> FlashLog::verify(std::size_t findings_max, FlashCall call) {
  Scrubber scrubber(*core_, findings_max);
  co_return co_await scrubber.run(std::move(call));
}

Task<Result<RecordNames>> FlashLog::names_of(FlashPage page, FlashCall call) {
  const FlashLayout& layout = core_->layout();
  if (!layout.in_segments(page)) co_return fail(Errc::kNotFound, "flash: no such page");
  const std::uint32_t index = layout.segment_of(page);
  RangeOptions options;
  options.op_class = call.io.op_class;
  options.deadline = call.io.deadline;
  options.cancel = call.cancel;
  RecordPlace expected;
  expected.uuid = core_->uuid();
  expected.sequence = core_->segments.at(index).sequence;
  expected.page = page;
  FOREBAY_CO_TRY(header, co_await read_range(core_.get(), layout.offset_of(page),
                                             core_->buffers.page(), options));
  const auto decoded = decode_record_header(header.bytes(), expected);
  if (!decoded || decoded->place.kind != RecordKind::kBlock) {
    co_return fail(Errc::kCorrupt, "flash: the record's header does not prove itself");
  }
  RecordNames names;
  names.id = decoded->facts.id;
  names.parent = decoded->facts.parent;
  names.data_bytes = decoded->facts.data_bytes;
  names.token_count = decoded->facts.token_count;
  names.chain_depth = decoded->facts.chain_depth;
  names.tenant = decoded->facts.tenant;
  names.layout_fingerprint = decoded->facts.layout_fingerprint;
  names.engine_key.assign(decoded->facts.engine_key.begin(), decoded->facts.engine_key.end());
  co_return names;
}

Task<Status> FlashLog::close(FlashCall call) {
  FOREBAY_CO_TRY_STATUS(co_await reclaimer_.stop(call));
  // A segment that is just being sealed would have to be scanned at the next open.
  while (writer_->head().seals_pending()) {
    Waiter waiter(core_->loop(), call.io.deadline, call.cancel);
    writer_->head().changed().add(waiter);
    if (co_await waiter != Wake::kSignalled) {
      co_return fail(Errc::kTimedOut, "flash close: the device did not finish in time");
    }
  }
  if (!core_->health.device_may_write()) co_return Status{};
  co_return co_await checkpointer_.run(call);
}

FlashStats FlashLog::stats() const {
  FlashStats stats;
  const FlashCounters& counters = core_->counters;
  const FlashLayout& layout = core_->layout();
  stats.mode = core_->health.mode();
  stats.mode_reason = core_->health.reason();
  if (stats.mode == FlashMode::kReadWrite && core_->health.worn()) {
    stats.mode = FlashMode::kReadOnly;
    stats.mode_reason = "more was written than the wear limit allows";
  }
  stats.capacity_bytes = layout.segment_bytes * layout.segment_count;
  stats.live_bytes = core_->segments.live_pages() * layout.page_bytes;
  stats.segment_count = layout.segment_count;
  stats.free_segment_count = core_->segments.free_count();
  stats.data_bytes_max = layout.data_bytes_max();
  stats.host_written_bytes = counters.host_written_bytes;
  stats.device_written_bytes = counters.device_written_bytes;
  stats.host_written_bytes_ever = counters.host_written_before + counters.host_written_bytes;
  stats.device_written_bytes_ever = counters.device_written_before + counters.device_written_bytes;
  stats.moved_bytes = counters.moved_bytes;
  stats.dropped_blocks = counters.dropped_blocks;
  stats.corrupt_records = counters.corrupt_records;
  stats.read_bytes = counters.read_bytes;
  stats.reclaimed_segments = counters.reclaimed_segments;
  stats.drive_writes_per_day = core_->wear.drive_writes_per_day(core_->now());
  stats.read_in_flight_bytes_peak = core_->queue(block::RequestKind::kRead).in_flight_bytes_peak();
  stats.write_in_flight_bytes_peak =
      core_->queue(block::RequestKind::kWrite).in_flight_bytes_peak();
  stats.recovery_time = counters.recovery_time;
  stats.recovered_blocks = counters.recovered_blocks;
  return stats;
}

}  // namespace forebay::store
