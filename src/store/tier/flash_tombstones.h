// Forgets blocks so that they stay forgotten: logs tombstones, many in one record.
//
// Calls that come while a record of tombstones is on its way share the next one. Threads: one core.
// Suspends: forget(). Errors: kBusy (kWaitingMax wait already), kTimedOut, kCancelled, and those of
// an append; after an error the block may come back at the next open.
#pragma once

#include <memory>
#include <vector>

#include "core/task.h"
#include "store/tier/flash_writer.h"

namespace forebay::store {

class TombstoneLog {
 public:
  TombstoneLog(FlashCore& core, FlashWriter& writer) : core_(core), writer_(writer) {}

  // Every copy of `id` logged so far is dead once this ended well.
  [[nodiscard]] Task<Status> forget(BlockId id, FlashCall call);
  // Logs these again, as they are; for reclaim, which must not wait.
  [[nodiscard]] Task<Status> carry(std::vector<Tombstone> tombstones);

 private:
  static constexpr std::size_t kPerRecordMax = 1024;
  static constexpr std::size_t kWaitingMax = 64 * 1024;
  struct Batch {
    std::vector<Tombstone> tombstones;
    iovec piece{};
    Status status;
    bool done = false;
    WaitList waiters;
  };

  [[nodiscard]] static Task<void> write(FlashWriter* writer, std::shared_ptr<Batch> batch,
                                        bool for_reclaim);
  [[nodiscard]] Task<void> run();

  FlashCore& core_;
  FlashWriter& writer_;
  std::vector<std::shared_ptr<Batch>> waiting_;  // batches not yet on their way, oldest first
  Task<void> runner_;
  bool running_ = false;
};

}  // namespace forebay::store
