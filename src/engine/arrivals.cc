#include "engine/arrivals.h"

#include <algorithm>
#include <unordered_map>

namespace forebay::engine {

Arrivals::Arrivals(io::Loop& loop, std::span<const workload::Request> requests, OnDue on_due)
    : loop_(loop),
      requests_(requests),
      on_due_(std::move(on_due)),
      has_parent_(requests.size(), false) {
  std::unordered_map<std::uint64_t, std::size_t> seen;  // index -> position, of those before
  for (std::size_t i = 0; i < requests_.size(); ++i) {
    // A parent that is not before it here (a slice of a trace, or a bad trace) could never release
    // it: such a request starts at its arrival.
    if (requests_[i].parent >= 0) {
      const auto parent = seen.find(static_cast<std::uint64_t>(requests_[i].parent));
      if (parent != seen.end()) {
        has_parent_[i] = true;
        children_.emplace_back(parent->second, i);
      }
    }
    seen.emplace(requests_[i].index, i);
  }
  std::sort(children_.begin(), children_.end());
}

void Arrivals::start(Nanos origin) {
  origin_ = origin;
  push_next_root();
  arm();
}

void Arrivals::ended(std::size_t position) {
  const auto first =
      std::lower_bound(children_.begin(), children_.end(), std::pair(position, std::size_t{0}));
  const Nanos now = loop_.now();
  for (auto at = first; at != children_.end() && at->first == position; ++at) {
    const auto& child = requests_[at->second];
    const Nanos thought = now + Nanos(child.think_ns);
    due_.push({std::max(thought, origin_ + Nanos(child.arrival_ns)), at->second});
  }
  if (first != children_.end() && first->first == position) arm();
}

void Arrivals::stop() {
  timer_.cancel();
  due_ = {};
  next_root_ = requests_.size();
}

// Roots come sorted by arrival, so one of them in the queue is enough.
void Arrivals::push_next_root() {
  while (next_root_ < requests_.size() && has_parent_[next_root_]) ++next_root_;
  if (next_root_ == requests_.size()) return;
  due_.push({origin_ + Nanos(requests_[next_root_].arrival_ns), next_root_});
  ++next_root_;
}

void Arrivals::arm() {
  timer_.cancel();
  if (!due_.empty()) loop_.arm(timer_, due_.top().at, [this] { fire(); });
}

void Arrivals::fire() {
  while (!due_.empty() && due_.top().at <= loop_.now()) {
    const Due due = due_.top();
    due_.pop();
    if (!has_parent_[due.position]) push_next_root();
    on_due_(due.position, due.at);
  }
  arm();
}

}  // namespace forebay::engine
