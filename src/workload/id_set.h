// A set of 64-bit ids in 12 bytes an id or so: open addressing, linear probes, at most 3/4 full.
//
// Threads: one owner. Grows by doubling; nothing is ever removed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/rng.h"

namespace forebay::workload {

class IdSet {
 public:
  // True when `id` was not there.
  bool insert(std::uint64_t id) {
    if (id == kEmpty) return !std::exchange(has_empty_, true);
    if ((count_ + 1) * 4 > slots_.size() * 3) grow();
    const std::size_t at = find(id);
    if (slots_[at] == id) return false;
    slots_[at] = id;
    ++count_;
    return true;
  }
  [[nodiscard]] bool contains(std::uint64_t id) const {
    if (id == kEmpty) return has_empty_;
    return !slots_.empty() && slots_[find(id)] == id;
  }
  [[nodiscard]] std::size_t size() const { return count_ + (has_empty_ ? 1 : 0); }

 private:
  static constexpr std::uint64_t kEmpty = 0;
  static constexpr std::size_t kSlotsMin = 1024;

  // Where `id` is, or where it would go.
  [[nodiscard]] std::size_t find(std::uint64_t id) const {
    std::size_t at = mix64(id) & (slots_.size() - 1);
    while (slots_[at] != kEmpty && slots_[at] != id) at = (at + 1) & (slots_.size() - 1);
    return at;
  }
  void grow() {
    const std::size_t size = slots_.empty() ? kSlotsMin : slots_.size() * 2;
    std::vector<std::uint64_t> before = std::exchange(slots_, std::vector<std::uint64_t>(size));
    for (const std::uint64_t id : before) {
      if (id != kEmpty) slots_[find(id)] = id;
    }
  }

  std::vector<std::uint64_t> slots_;  // a power of two, or none
  std::size_t count_ = 0;
  bool has_empty_ = false;
};

}  // namespace forebay::workload
