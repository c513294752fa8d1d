// A generated workload of chains: sessions that grow turn by turn from shared beginnings.
//
// Pure: the same seed gives the same trace everywhere. Units: blocks. Threads: any.
#pragma once

#include <cstdint>

#include "plan/prefix_cache.h"

namespace forebay::plan {

// About 3.5 GB and some minutes (a sixteenth of it takes 215 MiB).
inline constexpr std::uint64_t kSyntheticBlocksMax = std::uint64_t{1} << 24;

// `blocks` distinct blocks in all, beside the 32 shared beginnings; at most kSyntheticBlocksMax.
[[nodiscard]] BlockTrace synthetic_chains(std::uint64_t blocks, std::uint64_t seed);

}  // namespace forebay::plan
