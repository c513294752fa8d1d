#include "nvme/target/memory_share.h"

namespace forebay::nvme::target {

bool MemoryShare::has_room(const BufferPool::Waiter& waiter) const {
  const std::size_t limit = waiter.first ? limits_.first_bytes : limits_.bytes;
  return charged_bytes_ == 0 || charged_bytes_ + BufferPool::lease_bytes(waiter.bytes) <= limit;
}

void MemoryShare::take(BufferPool::Waiter& waiter) {
  if (line_of(waiter).empty() && has_room(waiter)) return pass_on(waiter);
  line_of(waiter).push_back(waiter);
}

void MemoryShare::pass_on(BufferPool::Waiter& waiter) {
  charged_bytes_ += BufferPool::lease_bytes(waiter.bytes);
  parent_ != nullptr ? parent_->take(waiter) : pool_.take(waiter);
}

void MemoryShare::give_back(std::size_t bytes) {
  charged_bytes_ -= BufferPool::lease_bytes(bytes);
  if (parent_ != nullptr) parent_->give_back(bytes);
  if (serve(first_)) serve(others_);
}

// Whether nobody of this line waits any more.
bool MemoryShare::serve(BufferPool::Waiters& line) {
  while (!line.empty() && has_room(*line.front())) pass_on(line.pop_front());
  return line.empty();
}

void MemoryShare::forget(BufferPool::Waiter& waiter) {
  if (line_of(waiter).remove(waiter)) return;
  // It was passed on: nothing is charged for it here any more.
  charged_bytes_ -= BufferPool::lease_bytes(waiter.bytes);
  parent_ != nullptr ? parent_->forget(waiter) : pool_.forget(waiter);
  if (serve(first_)) serve(others_);
}

std::shared_ptr<MemoryShare> HostShares::of(const std::string& host_nqn) {
  std::erase_if(shares_, [](const auto& entry) { return entry.second.expired(); });
  std::weak_ptr<MemoryShare>& known = shares_[host_nqn];
  auto share = known.lock();
  if (share == nullptr) {
    share = std::make_shared<MemoryShare>(pool_, nullptr, host_limits(pool_.bytes_max()));
    known = share;
  }
  return share;
}

}  // namespace forebay::nvme::target
