#include "nvme/target/buffer_pool.h"

#include <algorithm>
#include <bit>

#include "core/check.h"

namespace forebay::nvme::target {
namespace {

std::size_t class_bytes(std::size_t size_class, std::size_t class_min) {
  return std::size_t{1} << (size_class + class_min);
}

}  // namespace

void BufferPool::Lease::reset() {
  if (pool_ == nullptr) return;
  std::exchange(pool_, nullptr)->give_back(std::move(memory_), std::exchange(bytes_, 0));
}

std::size_t BufferPool::lease_bytes(std::size_t bytes) {
  return std::max(std::bit_ceil(bytes), class_bytes(0, kClassMin));
}

void BufferPool::take(Waiter& waiter) {
  FOREBAY_CHECK_LE(lease_bytes(waiter.bytes), bytes_max_);
  (waiter.first ? waiting_first_ : waiting_).push_back(waiter);
  serve();
}

bool BufferPool::has_room(std::size_t bytes, std::size_t limit) const {
  return taken_bytes_ + bytes <= limit || taken_bytes_ == 0;
}

// Who waits and can be served now; null: nobody.
BufferPool::Waiter* BufferPool::pop_served() {
  if (!waiting_first_.empty()) {
    const bool room = has_room(lease_bytes(waiting_first_.front()->bytes), bytes_max_);
    return room ? &waiting_first_.pop_front() : nullptr;
  }
  const bool room = !waiting_.empty() &&
                    has_room(lease_bytes(waiting_.front()->bytes), bytes_max_ - reserve_bytes_);
  return room ? &waiting_.pop_front() : nullptr;
}

void BufferPool::serve() {
  // A waiter that is served may give back or take at once: one loop serves them all.
  if (serving_) return;
  serving_ = true;
  while (Waiter* waiter = pop_served()) {
    const std::size_t bytes = lease_bytes(waiter->bytes);
    waiter->on_ready(*waiter, make(static_cast<std::size_t>(std::countr_zero(bytes)) - kClassMin));
  }
  serving_ = false;
}

BufferPool::Lease BufferPool::make(std::size_t size_class) {
  FOREBAY_CHECK_LT(size_class, kClassCount);
  Lease lease;
  lease.pool_ = this;
  lease.bytes_ = class_bytes(size_class, kClassMin);
  auto& kept = kept_[size_class];
  if (!kept.empty()) {
    lease.memory_ = std::move(kept.back());
    kept.pop_back();
    kept_bytes_ -= lease.bytes_;
  } else {
    // Other sizes make room: the largest first.
    for (std::size_t other = kClassCount; other-- > 0;) {
      while (!kept_[other].empty() && taken_bytes_ + kept_bytes_ + lease.bytes_ > bytes_max_) {
        kept_[other].pop_back();
        kept_bytes_ -= class_bytes(other, kClassMin);
      }
    }
    lease.memory_ = allocate_aligned(lease.bytes_);
  }
  taken_bytes_ += lease.bytes_;
  return lease;
}

void BufferPool::give_back(AlignedMemory memory, std::size_t bytes) {
  taken_bytes_ -= bytes;
  kept_bytes_ += bytes;
  kept_[static_cast<std::size_t>(std::countr_zero(bytes)) - kClassMin].push_back(std::move(memory));
  serve();
}

}  // namespace forebay::nvme::target
