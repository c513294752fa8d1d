#include "joint/flash_need.h"

#include "store/tier/flash_layout.h"

namespace forebay::joint {

bool flash_holds(std::uint64_t flash_bytes, std::uint64_t block_bytes) {
  const std::uint64_t most = store::block_bytes_max({.size_bytes = flash_bytes});
  return most != 0 && most >= block_bytes;
}

std::uint64_t least_flash_bytes(std::uint64_t block_bytes) {
  constexpr std::uint64_t kSmallest = std::uint64_t{64} << 10;
  constexpr std::uint64_t kLargest = std::uint64_t{1} << 50;
  std::uint64_t least = kSmallest;
  while (least < kLargest && !flash_holds(least, block_bytes)) least *= 2;
  return least;
}

}  // namespace forebay::joint
