// Writes checkpoints: the heat of every record, the open segment's summary, the meters.
//
// Two areas take turns, and the header is written last, so that a crash leaves the one before.
// Costs one read of every summary and four bytes a record; of class checkpoint, at most kWidth
// segments at a time. Threads: one core. Suspends. Errors: kBusy (one is running), the device's.
#pragma once

#include <cstdint>

#include "core/task.h"
#include "store/tier/flash_checkpoint_format.h"
#include "store/tier/flash_core.h"
#include "store/tier/flash_range.h"

namespace forebay::store {

class Checkpointer {
 public:
  explicit Checkpointer(FlashCore& core) : core_(core) {}
  [[nodiscard]] Task<Status> run(FlashCall call);
  // What recovery found: the next checkpoint goes to the other area.
  void resume_after(std::uint64_t checkpoint_sequence) { sequence_ = checkpoint_sequence; }

 private:
  static constexpr std::size_t kWidth = 4;

  [[nodiscard]] Task<Status> write_all(RangeOptions options);
  [[nodiscard]] Task<void> write_slot(std::uint32_t segment, RangeOptions options, Status* all);
  [[nodiscard]] Task<Status> write_tail(CheckpointHeader* header, RangeOptions options);
  [[nodiscard]] Task<Status> write_header(CheckpointHeader header, RangeOptions options);

  FlashCore& core_;
  std::uint64_t sequence_ = 0;
  std::uint32_t area_ = 0;
  bool running_ = false;
};

}  // namespace forebay::store
