#include "store/tier/flash_buffer.h"

#include <algorithm>
#include <cstdlib>

#include "core/aligned_memory.h"
#include "core/bytes.h"
#include "core/check.h"

namespace forebay::store {
namespace {

// Slabs grow up to the size of a huge page: a small store stays small.
constexpr std::size_t kSlabBytesMin = 64 * kKiB;
constexpr std::size_t kSlabBytes = 2 * kMiB;
constexpr std::size_t kFreeChunksMax = 64;

// Of what may become huge pages, aligned to them.
std::byte* allocate(std::size_t bytes) {
  return allocate_aligned(bytes, bytes >= kSlabBytes ? kSlabBytes : kSlabBytesMin).release();
}

}  // namespace

void IoBuffer::reset() {
  if (pool_ != nullptr) std::exchange(pool_, nullptr)->give_back(std::exchange(bytes_, {}));
}

BufferPool::BufferPool(std::uint32_t page_bytes, std::size_t chunk_bytes)
    : page_bytes_(page_bytes), chunk_bytes_(std::max<std::size_t>(chunk_bytes, page_bytes * 2UL)) {}

BufferPool::~BufferPool() {
  for (std::byte* slab : slabs_) std::free(slab);
  for (std::byte* chunk : free_chunks_) std::free(chunk);
}

IoBuffer BufferPool::take(std::size_t bytes) {
  bytes = round_up(std::max<std::size_t>(bytes, 1), page_bytes_);
  if (bytes == page_bytes_) {
    if (free_pages_.empty()) grow_pages();
    std::byte* page = free_pages_.back();
    free_pages_.pop_back();
    return {this, {page, page_bytes_}};
  }
  if (bytes > chunk_bytes_) return {this, {allocate(bytes), bytes}};
  if (free_chunks_.empty()) free_chunks_.push_back(allocate(chunk_bytes_));
  std::byte* chunk = free_chunks_.back();
  free_chunks_.pop_back();
  return {this, {chunk, bytes}};
}

void BufferPool::grow_pages() {
  slab_bytes_ = std::clamp(slab_bytes_ * 2, std::max(kSlabBytesMin, page_bytes_ * 4), kSlabBytes);
  std::byte* slab = allocate(slab_bytes_);
  slabs_.push_back(slab);
  const std::size_t count = slab_bytes_ / page_bytes_;
  page_count_ += count;
  free_pages_.reserve(page_count_);
  // The lowest address is handed out first, so that pages used together lie together.
  for (std::size_t i = count; i-- > 0;) free_pages_.push_back(slab + i * page_bytes_);
}

void BufferPool::give_back(std::span<std::byte> bytes) {
  if (bytes.size() == page_bytes_) {
    free_pages_.push_back(bytes.data());
  } else if (bytes.size() <= chunk_bytes_ && free_chunks_.size() < kFreeChunksMax) {
    free_chunks_.push_back(bytes.data());
  } else {
    std::free(bytes.data());
  }
}

}  // namespace forebay::store
