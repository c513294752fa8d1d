#include "store/tier/flash_log.h"

#include <utility>

#include "core/log.h"
#include "store/tier/flash_recovery.h"
#include "store/tier/flash_superblock.h"

namespace forebay::store {

FlashLog::FlashLog(std::shared_ptr<FlashCore> core)
    : core_(std::move(core)),
      reader_(core_->add_part<FlashReader>()),
      writer_(core_->add_part<FlashWriter>()) {}

FlashLog::~FlashLog() { core_->abandon(); }

Task<Status> FlashLog::start(Start start) {
  if (!start.fresh) {
    FlashRecovery recovery(*core_, start.io);
    FOREBAY_CO_TRY_STATUS(co_await recovery.run());
    for (const std::uint32_t index : recovery.to_seal()) writer_->head().seal_soon(index);
  }
  // A device that cannot be repaired now is still good to read.
  if (start.repair_superblock) {
    const Status repaired = co_await write_superblocks(core_.get(), start.io);
    if (!repaired) log_warn("flash: a superblock copy is damaged: {}", to_string(repaired.error()));
  }
  core_->counters.recovery_time = core_->now() - start.began;
  co_return Status{};
}

Task<void> FlashLog::append(std::span<FlashAppend> items, FlashCall call) {
  return writer_->append(items, call);
}

Task<void> FlashLog::read(std::span<FlashRead> items, FlashCall call) {
  return reader_->read(items, call);
}

Task<Status> FlashLog::forget(BlockId id, FlashPage page, std::uint32_t data_bytes, bool durable,
                              FlashCall call) {
  (void)id;
  (void)durable;
  (void)call;
  if (core_->layout().in_segments(page)) core_->segments.drop_live(page, data_bytes);
  co_return Status{};
}

Task<Status> FlashLog::checkpoint(FlashCall call) {
  (void)call;
  co_return Status{};
}

Task<Result<FlashTier::VerifyResult>> FlashLog::verify(std::size_t findings_max,
                                                       CancelSource* cancel) {
  (void)findings_max;
  (void)cancel;
  co_return VerifyResult{};
}

Task<Status> FlashLog::close(FlashCall call) { return checkpoint(call); }

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
  stats.host_written_bytes = counters.host_written_bytes;
  stats.device_written_bytes = counters.device_written_bytes;
  stats.moved_bytes = counters.moved_bytes;
  stats.dropped_blocks = counters.dropped_blocks;
  stats.corrupt_records = counters.corrupt_records;
  stats.read_bytes = counters.read_bytes;
  stats.reclaimed_segments = counters.reclaimed_segments;
  stats.drive_writes_per_day = core_->wear.drive_writes_per_day(core_->now());
  stats.recovery_time = counters.recovery_time;
  stats.recovered_blocks = counters.recovered_blocks;
  return stats;
}

}  // namespace forebay::store
