// What a policy remembers of blocks that are gone: a fixed table, four places a key; the oldest of
// the four makes way.
//
// 16 bytes an entry. A lost entry costs accuracy, never correctness. Threads: one owner.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

namespace forebay::store::policy {

struct Ghost {
  std::uint64_t key = 0;      // 0: free
  std::uint32_t request = 0;  // of the last touch
  std::uint16_t group = 0;    // the policy's word
  std::uint8_t touches = 0;
  std::uint8_t spare = 0;
};
static_assert(sizeof(Ghost) == 16);

class GhostTable {
 public:
  explicit GhostTable(std::size_t entries) : entries_(std::bit_ceil(std::max(entries, kPlaces))) {}

  [[nodiscard]] const Ghost* find(std::uint64_t key) const {
    if (key == 0 || used_ == 0) return nullptr;  // empty: a store that fills has no misses here
    const std::size_t first = first_of(key);
    for (std::size_t i = first; i < first + kPlaces; ++i) {
      if (entries_[i].key == key) return &entries_[i];
    }
    return nullptr;
  }
  // What had to make way (key 0: nothing).
  Ghost put(const Ghost& ghost) {
    const std::size_t first = first_of(ghost.key);
    Ghost* at = &entries_[first];
    for (std::size_t i = first; i < first + kPlaces; ++i) {
      Ghost& other = entries_[i];
      if (other.key == ghost.key) {
        at = &other;
        break;
      }
      if (at->key != 0 && (other.key == 0 || other.request < at->request)) at = &other;
    }
    const Ghost before = *at;
    used_ += (ghost.key != 0 ? 1 : 0);
    used_ -= (before.key != 0 ? 1 : 0);
    *at = ghost;
    return before;
  }
  void forget(std::uint64_t key) {
    const Ghost* at = find(key);
    if (at == nullptr) return;
    entries_[static_cast<std::size_t>(at - entries_.data())] = {};
    --used_;
  }
  [[nodiscard]] const std::vector<Ghost>& entries() const { return entries_; }
  [[nodiscard]] std::size_t bytes_used() const { return entries_.size() * sizeof(Ghost); }

 private:
  static constexpr std::size_t kPlaces = 4;  // one cache line
  [[nodiscard]] std::size_t first_of(std::uint64_t key) const {
    return (key >> 20) & (entries_.size() - 1) & ~(kPlaces - 1);
  }
  std::vector<Ghost> entries_;
  std::size_t used_ = 0;
};

}  // namespace forebay::store::policy
