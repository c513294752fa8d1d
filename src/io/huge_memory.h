// Anonymous memory in huge pages where the host has them: the DRAM tier, the emulated HBM.
//
// Page size decides what direct I/O costs (a 2 MiB page is pinned once, 4 KiB pages 512 times).
// Zeroed; local to the NUMA node of the thread that maps it. Threads: any; one owner.
// Errors: kNoSpace.
#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include "core/error.h"

namespace forebay::io {

class HugeMemory {
 public:
  HugeMemory() = default;
  // All of it is there before this returns: reserved huge pages are tried first, then transparent
  // ones, then whatever there is.
  [[nodiscard]] static Result<HugeMemory> map(std::size_t bytes);
  // Pages come as they are touched, transparent huge ones where the kernel has them; rounded up to
  // 4 KiB. Counts against what the kernel promises at once, so an absurd size is refused here.
  [[nodiscard]] static Result<HugeMemory> map_on_demand(std::size_t bytes);
  // Has all pages there now, for who cannot wait for them later. The contents stay. Kernels before
  // Linux 5.14 cannot: pages come as they are touched.
  [[nodiscard]] Status populate();
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

}  // namespace forebay::io
