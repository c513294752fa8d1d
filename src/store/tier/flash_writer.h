// Appends records to the flash tier: gathered writes straight from lent memory, one shared flush.
//
// A call's records are checksummed, laid and submitted in order, a few MiB between two turns of the
// loop. When its writes are done the call joins the next flush; all calls that wait share it. A
// call that ends at its deadline leaves its writes to the device; what they leave behind is a hole.
//
// Ownership: as FlashReader. Threads: one core. Errors, each item its own: kInvalid (sizes),
// kReadOnly, kNoSpace, kTimedOut, kCancelled, kIo, kGone.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/task.h"
#include "store/tier/flash_append_job.h"
#include "store/tier/flash_core.h"
#include "store/tier/flash_head.h"

namespace forebay::store {

class FlashWriter {
 public:
  explicit FlashWriter(FlashCore& core);
  ~FlashWriter();
  FlashWriter(const FlashWriter&) = delete;
  FlashWriter& operator=(const FlashWriter&) = delete;

  [[nodiscard]] Task<void> append(std::span<FlashAppend> items, FlashCall call,
                                  const AppendExtras* extras = nullptr) {
    return append_claimed(items, std::move(call), {extras, std::make_unique<AppendClaims>(core_)});
  }
  [[nodiscard]] LogHead& head() { return head_; }
  // Is a newer copy of this block on its way, not yet acknowledged?
  [[nodiscard]] bool appending(const BlockId& id) const;

 private:
  friend class AppendJob;
  struct Detach {
    void operator()(AppendJob* job) const;
  };
  using JobHandle = std::unique_ptr<AppendJob, Detach>;

  [[nodiscard]] AppendJob* take();
  void give_back(AppendJob* job);
  // The job's writes are done: it wants a flush.
  void commit(AppendJob& job);
  void pump_commits();
  void finish_flush(Transfer& done);

  [[nodiscard]] Status check(const FlashAppend& item) const;
  struct Terms {
    const AppendExtras* extras = nullptr;
    std::unique_ptr<AppendClaims> claims;
  };
  [[nodiscard]] Task<void> append_claimed(std::span<FlashAppend> items, FlashCall call,
                                          Terms terms);
  [[nodiscard]] JobHandle new_job(const FlashCall& call, const Terms& terms);
  // A call becomes several jobs when it must wait for room that its own records take.
  [[nodiscard]] Task<Status> place_all(std::vector<JobHandle>* jobs, std::span<FlashAppend> items,
                                       FlashCall call, const Terms* terms);
  // Reserves places from `at` on; how many items are done with (placed or refused).
  [[nodiscard]] Result<std::size_t> reserve_some(AppendJob& job, std::span<FlashAppend> items,
                                                 std::size_t at, const AppendExtras* extras);
  [[nodiscard]] Task<Status> lay_all(AppendJob* job, FlashCall call);
  [[nodiscard]] Task<Status> wait_for_room(FlashCall call);

  FlashCore& core_;
  LogHead head_;
  std::vector<std::unique_ptr<AppendJob>> idle_;
  AppendJob* active_ = nullptr;
  std::vector<AppendJob*> waiting_;   // for a flush
  std::vector<AppendJob*> flushing_;  // by the flush in flight
  bool flush_running_ = false;
};

}  // namespace forebay::store
