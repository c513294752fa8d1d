// Block buffers for benchmarks: huge-page backed where the host allows, one iovec a block.
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <vector>

#include "core/aligned_memory.h"
#include "core/bytes.h"
#include "store/lent_buffer.h"

namespace forebay::cli {

class BenchArena {
 public:
  BenchArena(std::size_t block_count, std::size_t block_bytes) : pieces_(block_count) {
    const std::size_t size = round_up(block_count * block_bytes, kHugePageBytes);
    memory_ = allocate_for_huge_pages(size);
    std::memset(memory_.get(), 0x5a, size);  // faults every page in, before anything is timed
    for (std::size_t i = 0; i < block_count; ++i) {
      pieces_[i] = {memory_.get() + i * block_bytes, block_bytes};
    }
  }
  [[nodiscard]] std::byte* block(std::size_t index) const {
    return static_cast<std::byte*>(pieces_[index].iov_base);
  }
  [[nodiscard]] store::LentBuffer lend(std::size_t index) const {
    return {std::span(&pieces_[index], 1), memory_};
  }

 private:
  std::vector<iovec> pieces_;
  std::shared_ptr<std::byte> memory_;
};

}  // namespace forebay::cli
