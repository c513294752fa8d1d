// The cells of a histogram at 3 significant digits: HdrHistogram's layout.
//
// Log-linear: values below 2048 have a cell each; above, every power of two is cut into 1024 cells,
// so a cell is never wider than 1/1024 of its value. Pure.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace forebay::telemetry::cells {

inline constexpr unsigned kSubBucketBits = 11;
inline constexpr std::uint64_t kSubBuckets = 1ULL << kSubBucketBits;
inline constexpr std::uint64_t kHalf = kSubBuckets / 2;

[[nodiscard]] constexpr std::size_t index_of(std::uint64_t value) {
  if (value < kSubBuckets) return value;
  const unsigned shift = static_cast<unsigned>(std::bit_width(value)) - kSubBucketBits;
  return shift * kHalf + (value >> shift);
}

[[nodiscard]] constexpr std::uint64_t lowest_of(std::size_t index) {
  if (index < kSubBuckets) return index;
  const std::size_t shift = index / kHalf - 1;
  return (index - shift * kHalf) << shift;
}

[[nodiscard]] constexpr std::uint64_t highest_of(std::size_t index) {
  return lowest_of(index + 1) - 1;
}

}  // namespace forebay::telemetry::cells
