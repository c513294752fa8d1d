// Anonymous memory in huge pages where the host has them: the emulated HBM.
//
// Page size decides what direct I/O costs (a 2 MiB page is pinned once, 4 KiB pages 512 times), so
// reserved huge pages are tried first, then transparent ones, then whatever there is. The memory is
// there before map() returns, zeroed. Threads: any; one owner. Errors: kNoSpace.
#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include "core/error.h"

namespace forebay::engine {

class HugeMemory {
 public:
  HugeMemory() = default;
  [[nodiscard]] static Result<HugeMemory> map(std::size_t bytes);
  HugeMemory(HugeMemory&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}
  HugeMemory& operator=(HugeMemory&& other) noexcept {
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~HugeMemory();
  // Aligned to 2 MiB where that much was asked for, else to 4 KiB.
  [[nodiscard]] std::span<std::byte> bytes() const { return bytes_; }

 private:
  explicit HugeMemory(std::span<std::byte> bytes) : bytes_(bytes) {}
  std::span<std::byte> bytes_;
};

}  // namespace forebay::engine
