// Places in an arena for blocks of mixed sizes: a two-level segregated fit over pages, with
// coalescing (after Masmano et al., "TLSF", 2004). Pure: it never touches the arena.
//
// Units: pages. An extent's number is stable from allocate() to free(), dense, and serves the DRAM
// tier as the block's number. O(1) each. Threads: one owner. Errors: kNoExtent when no free run is
// long enough (the largest of its size class at worst 1/8 longer than asked).
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace forebay::store {

using Extent = std::uint32_t;
inline constexpr Extent kNoExtent = ~Extent{0};

class ExtentAllocator {
 public:
  explicit ExtentAllocator(std::uint32_t page_count);

  // pages > 0.
  [[nodiscard]] Extent allocate(std::uint32_t pages);
  void free(Extent extent);

  [[nodiscard]] std::uint32_t first_page(Extent extent) const { return nodes_[extent].first; }
  [[nodiscard]] std::uint32_t page_count(Extent extent) const { return nodes_[extent].pages; }
  [[nodiscard]] std::uint32_t free_pages() const { return free_pages_; }
  [[nodiscard]] std::uint32_t total_pages() const { return total_pages_; }
  // Extent numbers ever used are below this.
  [[nodiscard]] Extent extent_end() const { return static_cast<Extent>(nodes_.size()); }
  [[nodiscard]] std::uint64_t memory_bytes() const { return nodes_.capacity() * sizeof(Node); }

 private:
  static constexpr unsigned kSubBits = 3;  // 8 classes a power of two
  static constexpr unsigned kSubCount = 1U << kSubBits;
  static constexpr unsigned kPowers = 32;

  // Neighbours by address, then neighbours in the list of its size class.
  struct Node {
    std::uint32_t first = 0;
    std::uint32_t pages = 0;
    Extent before = kNoExtent;
    Extent after = kNoExtent;
    Extent previous_free = kNoExtent;
    Extent next_free = kNoExtent;
    bool is_free = false;
  };

  [[nodiscard]] static unsigned class_of(std::uint32_t pages);
  void list(Extent extent);
  void unlist(Extent extent);
  [[nodiscard]] Extent find_fit(std::uint32_t pages) const;
  [[nodiscard]] Extent new_node();
  void drop_node(Extent extent);
  void absorb_next(Extent extent);

  std::vector<Node> nodes_;
  Extent spare_ = kNoExtent;  // unused nodes, linked by next_free
  std::array<Extent, kPowers * kSubCount> heads_{};
  std::array<std::uint64_t, kPowers * kSubCount / 64> occupied_{};
  std::uint32_t free_pages_;
  std::uint32_t total_pages_;
};

}  // namespace forebay::store
