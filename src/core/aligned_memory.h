// Memory aligned for direct I/O, owned by a unique_ptr.
//
// Threads: any. Errors: as `new`: the program's new-handler, then std::bad_alloc.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>

#include "core/bytes.h"

namespace forebay {

// What every device and file system here takes.
inline constexpr std::size_t kIoAlignBytes = 4096;

struct FreeMemory {
  void operator()(std::byte* memory) const { std::free(memory); }
};
using AlignedMemory = std::unique_ptr<std::byte, FreeMemory>;

[[noreturn]] inline void no_memory() {
  if (const std::new_handler handler = std::get_new_handler(); handler != nullptr) handler();
  throw std::bad_alloc();
}

// At least `bytes` and one unit of `align_bytes` (a power of two); not zeroed.
[[nodiscard]] inline AlignedMemory allocate_aligned(std::size_t bytes,
                                                    std::size_t align_bytes = kIoAlignBytes) {
  const std::size_t rounded = round_up(std::max<std::size_t>(bytes, 1), align_bytes);
  AlignedMemory memory(static_cast<std::byte*>(std::aligned_alloc(align_bytes, rounded)));
  if (memory == nullptr) no_memory();
  return memory;
}

inline constexpr std::size_t kHugePageBytes = std::size_t{2} << 20;

// At least `bytes`, backed by huge pages where it is one or more and the host has them: random
// reads over gigabytes of small pages are each a page walk too. Not zeroed.
[[nodiscard]] inline AlignedMemory allocate_for_huge_pages(std::size_t bytes) {
  const bool huge = bytes >= kHugePageBytes;
  const std::size_t size = round_up(std::max<std::size_t>(bytes, 1), kIoAlignBytes);
  AlignedMemory memory(
      static_cast<std::byte*>(std::aligned_alloc(huge ? kHugePageBytes : kIoAlignBytes, size)));
  if (memory == nullptr) no_memory();
  if (huge) ::madvise(memory.get(), size, MADV_HUGEPAGE);
  return memory;
}

}  // namespace forebay
