// Aligned memory for the flash tier's own bytes: header pages, bounce buffers, summaries, scans.
//
// Pages and chunks are pooled and come back when their IoBuffer goes; other sizes are allocated for
// the occasion. Bounded: every buffer belongs to a transfer or a background step, and the bytes of
// both in flight are bounded. Threads: one core. The pool must outlive its buffers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace forebay::store {

class BufferPool;

class IoBuffer {
 public:
  IoBuffer() = default;
  IoBuffer(IoBuffer&& other) noexcept
      : pool_(std::exchange(other.pool_, nullptr)), bytes_(std::exchange(other.bytes_, {})) {}
  IoBuffer& operator=(IoBuffer&& other) noexcept {
    if (this == &other) return *this;
    reset();
    pool_ = std::exchange(other.pool_, nullptr);
    bytes_ = std::exchange(other.bytes_, {});
    return *this;
  }
  ~IoBuffer() { reset(); }
  void reset();
  [[nodiscard]] explicit operator bool() const { return !bytes_.empty(); }
  [[nodiscard]] std::span<std::byte> bytes() const { return bytes_; }
  [[nodiscard]] std::byte* data() const { return bytes_.data(); }
  [[nodiscard]] std::size_t size() const { return bytes_.size(); }

 private:
  friend class BufferPool;
  IoBuffer(BufferPool* pool, std::span<std::byte> bytes) : pool_(pool), bytes_(bytes) {}
  BufferPool* pool_ = nullptr;
  std::span<std::byte> bytes_;
};

class BufferPool {
 public:
  // Pages are carved from slabs of huge-page size; a chunk is what one transfer can need.
  BufferPool(std::uint32_t page_bytes, std::size_t chunk_bytes);
  ~BufferPool();
  BufferPool(const BufferPool&) = delete;
  BufferPool& operator=(const BufferPool&) = delete;

  [[nodiscard]] IoBuffer page() { return take(page_bytes_); }
  // `bytes` is rounded up to whole pages.
  [[nodiscard]] IoBuffer take(std::size_t bytes);

 private:
  friend class IoBuffer;
  void give_back(std::span<std::byte> bytes);
  void grow_pages();

  std::size_t page_bytes_;
  std::size_t chunk_bytes_;
  std::size_t slab_bytes_ = 0;  // of the newest slab
  std::size_t page_count_ = 0;
  std::vector<std::byte*> slabs_;
  std::vector<std::byte*> free_pages_;
  std::vector<std::byte*> free_chunks_;
};

}  // namespace forebay::store
