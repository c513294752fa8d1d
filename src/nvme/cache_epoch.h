// What a Forebay target tells of the volatile cache behind a namespace, so that a host that
// connects again knows whether what was written and not flushed can be gone: the same epoch as
// before is the same cache, with all that was written to it. It stands where Identify Namespace
// leaves room to vendors (NVM Command Set 1.0, 4.1.5.1), behind a mark that others will not have
// there. Pure.
#pragma once

#include <cstddef>
#include <cstdint>

#include "nvme/identity.h"

namespace forebay::nvme {

// Zeroes: nothing is told.
using CacheEpoch = Uuid;

inline constexpr std::size_t kCacheEpochMarkAt = 384;
inline constexpr std::uint64_t kCacheEpochMark = 0x3148'434F'5045'4246ULL;  // "FBEPOCH1"
inline constexpr std::size_t kCacheEpochAt = 392;

}  // namespace forebay::nvme
