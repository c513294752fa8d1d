// A list from coldest to warmest over dense numbers: eight bytes each, O(1) moves.
//
// Threads: one owner.
#pragma once

#include <cstdint>
#include <vector>

namespace forebay::store {

class LruList {
 public:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  void push_warmest(std::uint32_t number) {
    if (number >= nodes_.size()) nodes_.resize(std::size_t{number} + 1);
    nodes_[number] = {warmest_, kNone};
    (warmest_ == kNone ? coldest_ : nodes_[warmest_].warmer) = number;
    warmest_ = number;
  }
  void push_coldest(std::uint32_t number) {
    if (number >= nodes_.size()) nodes_.resize(std::size_t{number} + 1);
    nodes_[number] = {kNone, coldest_};
    (coldest_ == kNone ? warmest_ : nodes_[coldest_].colder) = number;
    coldest_ = number;
  }
  void remove(std::uint32_t number) {
    const Node node = nodes_[number];
    (node.colder == kNone ? coldest_ : nodes_[node.colder].warmer) = node.warmer;
    (node.warmer == kNone ? warmest_ : nodes_[node.warmer].colder) = node.colder;
  }
  [[nodiscard]] std::uint32_t coldest() const { return coldest_; }
  [[nodiscard]] std::uint32_t warmer(std::uint32_t number) const { return nodes_[number].warmer; }
  [[nodiscard]] std::uint64_t memory_bytes() const { return nodes_.capacity() * sizeof(Node); }

 private:
  struct Node {
    std::uint32_t colder = kNone;
    std::uint32_t warmer = kNone;
  };
  std::vector<Node> nodes_;
  std::uint32_t coldest_ = kNone;
  std::uint32_t warmest_ = kNone;
};

}  // namespace forebay::store
