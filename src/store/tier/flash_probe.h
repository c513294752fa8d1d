// Looks after a device that stopped working, until it works again.
//
// While the tier is read-only or off it tries, one probe at a time and ever more rarely: is it
// there, is it still this store, does it take a write. Then the tier returns to read-write by
// itself. Threads: one core.
#pragma once

#include "core/task.h"
#include "store/tier/flash_core.h"
#include "store/tier/flash_wait.h"

namespace forebay::store {

class FlashProbe {
 public:
  explicit FlashProbe(FlashCore& core) : core_(core) {}
  void start();

 private:
  static constexpr Nanos kFirstPause = std::chrono::milliseconds(250);
  static constexpr Nanos kLongestPause = std::chrono::seconds(30);

  [[nodiscard]] Task<void> run();
  [[nodiscard]] Task<void> probe();
  [[nodiscard]] Task<Status> try_write();

  FlashCore& core_;
  WaitList changed_;
  Task<void> task_;
};

}  // namespace forebay::store
