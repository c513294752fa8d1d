// A map from 64-bit keys that forgets: it holds the last used `capacity` keys at least, twice that
// at most, whatever a trace brings. Two generations: when the young one is full the old one goes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <utility>

namespace forebay::workload {

template <class Value>
class RecentMap {
 public:
  explicit RecentMap(std::size_t capacity) : capacity_(capacity) {}

  // The value of `key`, default-made when it is new or was forgotten. Valid until the next call.
  Value& operator[](std::uint64_t key) {
    if (const auto found = young_.find(key); found != young_.end()) return found->second;
    if (young_.size() >= capacity_) {
      old_ = std::exchange(young_, {});
      forgot_ = true;
    }
    const auto found = old_.find(key);
    if (found == old_.end()) return young_[key];
    Value value = std::move(found->second);
    old_.erase(found);
    return young_[key] = std::move(value);
  }
  // Null when it is new or was forgotten.
  [[nodiscard]] const Value* find(std::uint64_t key) const {
    if (const auto found = young_.find(key); found != young_.end()) return &found->second;
    const auto found = old_.find(key);
    return found == old_.end() ? nullptr : &found->second;
  }
  // Whether a generation was ever dropped.
  [[nodiscard]] bool forgot() const { return forgot_; }

 private:
  std::size_t capacity_;
  bool forgot_ = false;
  std::unordered_map<std::uint64_t, Value> young_;
  std::unordered_map<std::uint64_t, Value> old_;
};

}  // namespace forebay::workload
