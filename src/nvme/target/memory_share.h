// How much of a pool one connection, or one host with all of its connections, may have at a time.
//
//   connection ──▶ host ──▶ pool      each passes on what fits its share; the rest waits there
//
// A share that has nothing may always ask for one thing more. A waiter whose connection has nothing
// (`first`) goes before others, up to limit_first_bytes.
// Ownership: waiters are the caller's; a share is empty when it goes. Threads: one loop's.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>

#include "core/check.h"
#include "nvme/target/buffer_pool.h"

namespace forebay::nvme::target {

struct ShareLimits {
  std::size_t bytes = 0;
  std::size_t first_bytes = 0;
};
// Parts of a pool of so many bytes: no host has more than three quarters of it, and only half but
// for commands of connections that have nothing; a connection has a quarter.
[[nodiscard]] inline ShareLimits connection_limits(std::size_t pool_bytes) {
  return {pool_bytes / 4, pool_bytes};
}
[[nodiscard]] inline ShareLimits host_limits(std::size_t pool_bytes) {
  return {pool_bytes / 2, pool_bytes / 4 * 3};
}
// Of a pool, for connections that have nothing.
[[nodiscard]] inline std::size_t reserve_bytes(std::size_t pool_bytes) { return pool_bytes / 4; }

class MemoryShare {
 public:
  MemoryShare(BufferPool& pool, MemoryShare* parent, ShareLimits limits)
      : pool_(pool), parent_(parent), limits_(limits) {}
  ~MemoryShare() { FOREBAY_CHECK(charged_bytes_ == 0); }
  MemoryShare(const MemoryShare&) = delete;
  MemoryShare& operator=(const MemoryShare&) = delete;

  [[nodiscard]] bool empty() const { return charged_bytes_ == 0; }
  // As BufferPool::take(), once it fits.
  void take(BufferPool::Waiter& waiter);
  // What a waiter of `bytes` got is back in the pool, or it will not be taken.
  void give_back(std::size_t bytes);
  // Not wanted any more and never served. What was charged for it is not.
  void forget(BufferPool::Waiter& waiter);

 private:
  [[nodiscard]] bool has_room(const BufferPool::Waiter& waiter) const;
  [[nodiscard]] BufferPool::Waiters& line_of(const BufferPool::Waiter& waiter) {
    return waiter.first ? first_ : others_;
  }
  void pass_on(BufferPool::Waiter& waiter);
  bool serve(BufferPool::Waiters& line);

  BufferPool& pool_;
  MemoryShare* parent_;
  ShareLimits limits_;
  std::size_t charged_bytes_ = 0;
  BufferPool::Waiters first_;
  BufferPool::Waiters others_;
};

// The shares of the hosts that are connected, by their NQNs, and that of all who are not yet.
class HostShares {
 public:
  explicit HostShares(BufferPool& pool)
      : pool_(pool), strangers_(pool, nullptr, host_limits(pool.bytes_max())) {}
  [[nodiscard]] BufferPool& pool() { return pool_; }
  [[nodiscard]] MemoryShare& strangers() { return strangers_; }
  // Lives as long as somebody holds it.
  [[nodiscard]] std::shared_ptr<MemoryShare> of(const std::string& host_nqn);

 private:
  BufferPool& pool_;
  MemoryShare strangers_;
  std::map<std::string, std::weak_ptr<MemoryShare>> shares_;
};

}  // namespace forebay::nvme::target
