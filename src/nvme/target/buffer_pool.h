// Memory for data in flight, with a bound: who finds it empty waits in line.
//
// Buffers are aligned for devices and come in powers of two from 4 KiB, kept for the next taker.
// What is taken and what is kept never exceed bytes_max together. The last reserve_bytes are for
// waiters that are `first`: so that those who have nothing get something while others have much.
// Ownership: a Lease returns its buffer when it goes; leases and waiters go before the pool.
// Threads: one loop's.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/aligned_memory.h"
#include "core/intrusive_queue.h"

namespace forebay::nvme::target {

class BufferPool {
 public:
  class Lease {
   public:
    Lease() = default;
    Lease(Lease&& other) noexcept
        : pool_(std::exchange(other.pool_, nullptr)),
          memory_(std::move(other.memory_)),
          bytes_(std::exchange(other.bytes_, 0)) {}
    Lease& operator=(Lease&& other) noexcept {
      if (this != &other) {
        reset();
        pool_ = std::exchange(other.pool_, nullptr);
        memory_ = std::move(other.memory_);
        bytes_ = std::exchange(other.bytes_, 0);
      }
      return *this;
    }
    ~Lease() { reset(); }
    void reset();
    [[nodiscard]] bool held() const { return pool_ != nullptr; }
    [[nodiscard]] std::span<std::byte> bytes() const { return {memory_.get(), bytes_}; }

   private:
    friend class BufferPool;
    BufferPool* pool_ = nullptr;
    AlignedMemory memory_;
    std::size_t bytes_ = 0;
  };

  // Caller-owned; on_ready runs once with the lease, in order of arrival, the first ones first.
  struct Waiter {
    std::size_t bytes = 0;
    bool first = false;  // its owner has nothing of the pool yet
    void (*on_ready)(Waiter&, Lease) = nullptr;
    void* context = nullptr;
    Waiter* next = nullptr;  // owned by whoever it waits with
  };
  using Waiters = IntrusiveQueue<Waiter, &Waiter::next>;

  explicit BufferPool(std::size_t bytes_max, std::size_t reserve_bytes = 0)
      : bytes_max_(bytes_max), reserve_bytes_(reserve_bytes) {}
  BufferPool(const BufferPool&) = delete;
  BufferPool& operator=(const BufferPool&) = delete;

  // Runs on_ready now when nobody waits and there is room, else later. A size that can never be
  // had is a programmer error.
  void take(Waiter& waiter);
  void forget(Waiter& waiter) { (waiter.first ? waiting_first_ : waiting_).remove(waiter); }
  // What a waiter of so many bytes takes.
  [[nodiscard]] static std::size_t lease_bytes(std::size_t bytes);

  [[nodiscard]] std::size_t taken_bytes() const { return taken_bytes_; }
  [[nodiscard]] std::size_t bytes_max() const { return bytes_max_; }

 private:
  static constexpr std::size_t kClassMin = 12;  // 4 KiB
  static constexpr std::size_t kClassCount = 12;
  [[nodiscard]] Lease make(std::size_t size_class);
  void give_back(AlignedMemory memory, std::size_t bytes);
  void serve();
  [[nodiscard]] bool has_room(std::size_t bytes, std::size_t limit) const;
  [[nodiscard]] Waiter* pop_served();

  std::size_t bytes_max_;
  std::size_t reserve_bytes_;
  std::size_t taken_bytes_ = 0;
  std::size_t kept_bytes_ = 0;
  std::array<std::vector<AlignedMemory>, kClassCount> kept_;
  Waiters waiting_first_;
  Waiters waiting_;
  bool serving_ = false;
};

}  // namespace forebay::nvme::target
