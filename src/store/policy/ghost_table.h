// What a policy remembers of blocks that are gone: a fixed table, one place a key, the newer wins.
//
// 16 bytes an entry. A lost entry costs accuracy, never correctness. Threads: one owner.
#pragma once

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
  explicit GhostTable(std::size_t entries) : entries_(std::bit_ceil(entries)) {}

  [[nodiscard]] const Ghost* find(std::uint64_t key) const {
    const Ghost& at = entries_[(key >> 20) & (entries_.size() - 1)];
    return key != 0 && at.key == key ? &at : nullptr;
  }
  // What stood in the place before (key 0: nothing).
  Ghost put(const Ghost& ghost) {
    Ghost& at = place(ghost.key);
    const Ghost before = at;
    at = ghost;
    return before;
  }
  void forget(std::uint64_t key) {
    Ghost& at = place(key);
    if (at.key == key) at = {};
  }
  [[nodiscard]] const std::vector<Ghost>& entries() const { return entries_; }
  [[nodiscard]] std::size_t bytes_used() const { return entries_.size() * sizeof(Ghost); }

 private:
  Ghost& place(std::uint64_t key) { return entries_[(key >> 20) & (entries_.size() - 1)]; }
  std::vector<Ghost> entries_;
};

}  // namespace forebay::store::policy
