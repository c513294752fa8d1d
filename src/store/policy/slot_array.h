// An array by slot that grows in chunks: no element ever moves, so growing costs no pause, and no
// more memory is taken than is used.
//
// Threads: one owner. Never shrinks.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <vector>

namespace forebay::store::policy {

template <class T>
class SlotArray {
 public:
  [[nodiscard]] T& operator[](std::size_t slot) { return (*chunks_[slot >> kBits])[slot & kMask]; }
  [[nodiscard]] const T& operator[](std::size_t slot) const {
    return (*chunks_[slot >> kBits])[slot & kMask];
  }
  // Whole chunks: at least what was asked for; new elements are T{}.
  [[nodiscard]] std::size_t size() const { return chunks_.size() << kBits; }
  void resize(std::size_t slot_count) {
    while (size() < slot_count) chunks_.push_back(std::make_unique<Chunk>());
  }
  [[nodiscard]] std::size_t bytes_used() const { return size() * sizeof(T); }

 private:
  static constexpr unsigned kBits = 12;
  static constexpr std::size_t kMask = (std::size_t{1} << kBits) - 1;
  using Chunk = std::array<T, std::size_t{1} << kBits>;
  std::vector<std::unique_ptr<Chunk>> chunks_;
};

}  // namespace forebay::store::policy
