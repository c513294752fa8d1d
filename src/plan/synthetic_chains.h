// A generated workload of chains: sessions that grow turn by turn from shared beginnings.
//
// Pure: the same seed gives the same trace everywhere. Units: blocks. Threads: any.
#pragma once

#include <cstdint>

#include "plan/prefix_cache.h"

namespace forebay::plan {

// `blocks` distinct blocks in all, beside the 32 shared beginnings.
[[nodiscard]] BlockTrace synthetic_chains(std::uint64_t blocks, std::uint64_t seed);

}  // namespace forebay::plan
