// Whether a flash tier of a size can be a store at all, told before a run instead of at its start.
//
// Sizes as they run, in bytes. Pure; threads: any.
#pragma once

#include <cstdint>

namespace forebay::joint {

// A store can be made on a device of `flash_bytes`, and takes blocks of `block_bytes`.
[[nodiscard]] bool flash_holds(std::uint64_t flash_bytes, std::uint64_t block_bytes);
// The smallest power of two that does.
[[nodiscard]] std::uint64_t least_flash_bytes(std::uint64_t block_bytes);

}  // namespace forebay::joint
