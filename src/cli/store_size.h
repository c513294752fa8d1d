// How large a store must be: to be one at all, for a block, for all blocks of a file.
//
// Pure arithmetic over the layout that a format chooses (docs/formats/flash-tier.md). Units: bytes.
#pragma once

#include <algorithm>
#include <cstdint>

namespace forebay::cli {

// What a record takes of a segment: its header page, and the data in whole pages.
[[nodiscard]] std::uint64_t footprint_bytes(std::uint64_t data_bytes);
// Free segments that the tier keeps before it reclaims any, so that room in them is none.
[[nodiscard]] std::uint64_t free_segments_kept();

// Below it there is no store.
[[nodiscard]] std::uint64_t smallest_store_bytes();
// Blocks of one size that a store takes before it lets any go.
[[nodiscard]] std::uint64_t blocks_held(std::uint64_t store_bytes, std::uint64_t data_bytes);

// Adds up blocks; then tells the size of a store that takes them all.
class StoreNeed {
 public:
  void add(std::uint64_t data_bytes);
  // What another store uses, as its statistics count it.
  void add_used(std::uint64_t used_bytes) { footprint_bytes_ += used_bytes; }
  [[nodiscard]] std::uint64_t data_bytes_max() const { return data_bytes_max_; }
  // Whole MiB, on the safe side; 0: no store takes a block as large as one of these.
  [[nodiscard]] std::uint64_t store_bytes() const;

 private:
  [[nodiscard]] bool fits(std::uint64_t store_bytes) const;

  std::uint64_t footprint_bytes_ = 0;
  std::uint64_t data_bytes_max_ = 0;
};

}  // namespace forebay::cli
