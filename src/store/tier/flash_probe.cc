#include "store/tier/flash_probe.h"

#include <algorithm>

#include "store/tier/flash_range.h"
#include "store/tier/flash_superblock.h"

namespace forebay::store {

void FlashProbe::start() {
  core_.health.on_change([this] { changed_.notify(); });
  task_ = run();
  task_.start();
}

Task<void> FlashProbe::run() {
  Nanos pause = kFirstPause;
  while (true) {
    if (core_.health.mode() == FlashMode::kReadWrite) {
      pause = kFirstPause;
      Waiter waiter(core_.loop(), kForever, nullptr);
      changed_.add(waiter);
      (void)co_await waiter;
    }
    co_await core_.loop().sleep_for(pause);
    pause = std::min(pause * 2, kLongestPause);
    if (core_.health.mode() != FlashMode::kReadWrite) co_await probe();
  }
}

Task<void> FlashProbe::probe() {
  RangeOptions options;
  options.op_class = block::OpClass::kDemand;
  const auto found = co_await find_superblock(&core_, options);
  if (!found) co_return;
  if (found->facts.uuid != core_.uuid()) {
    core_.health.stay(FlashMode::kGone, "another store is on the device");
    co_return;
  }
  const Status written = co_await try_write();
  if (written) {
    core_.health.recover();
  } else if (core_.health.mode() == FlashMode::kGone && written.error().code != Errc::kGone) {
    core_.health.stay(FlashMode::kReadOnly, "the device is back but takes no writes");
  }
}

Task<Status> FlashProbe::try_write() {
  RangeOptions options;
  options.op_class = block::OpClass::kDemand;
  FOREBAY_CO_TRY_STATUS(co_await write_superblock(&core_, 1, options));
  co_return co_await flush_device(&core_, options);
}

}  // namespace forebay::store
