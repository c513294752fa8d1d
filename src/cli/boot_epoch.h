// What does not change as long as this machine has not been started anew: then its page cache, and
// the caches of its disks, have all that was written to them.
#pragma once

#include "nvme/cache_epoch.h"

namespace forebay::cli {

// Zeroes where the kernel does not tell.
[[nodiscard]] nvme::CacheEpoch boot_epoch();

}  // namespace forebay::cli
