// Belady's optimum for chains: evict the block whose next use is furthest; of equals the deepest.
//
// Knows the future from the trace, so it is a limit, not a policy. A child is never used before its
// parent, so ties by depth keep leaves first. Threads: one owner.
#pragma once

#include <queue>
#include <vector>

#include "plan/prefix_cache.h"

namespace forebay::plan {

class Belady final : public store::policy::Policy {
 public:
  explicit Belady(const BlockTrace& trace);
  [[nodiscard]] std::string_view name() const override { return "belady"; }
  void begin_request(const store::policy::RequestContext&) override {
    const BlockTrace::Access& access = trace_.requests[++request_];
    at_ = access.first + access.count;
  }
  void on_insert(const store::policy::BlockFacts& facts) override { touch(facts.slot); }
  void on_hit(store::policy::Slot slot) override { touch(slot); }
  void on_remove(store::policy::Slot slot, std::uint64_t) override { next_of_[slot] = kGone; }
  [[nodiscard]] store::policy::Slot victim(const store::policy::ChainView& view) override;
  [[nodiscard]] double worth(store::policy::Slot slot) const override {
    return -static_cast<double>(next_of_[slot]);
  }
  [[nodiscard]] std::size_t bytes_used() const override { return 0; }

 private:
  static constexpr std::uint32_t kGone = ~std::uint32_t{0};
  struct Candidate {
    std::uint32_t next;  // request of the next use
    std::uint32_t depth;
    store::policy::Slot slot;
    friend bool operator<(const Candidate& a, const Candidate& b) {
      return a.next != b.next ? a.next < b.next : a.depth < b.depth;
    }
  };
  void touch(store::policy::Slot slot);

  const BlockTrace& trace_;
  std::vector<std::uint32_t> next_use_;   // by place in trace.blocks: the request that uses it next
  std::vector<std::uint32_t> next_of_;    // by slot, as of its last touch
  std::priority_queue<Candidate> queue_;  // stale candidates are dropped when they surface
  std::size_t request_ = ~std::size_t{0};
  std::size_t at_ = 0;  // one past the place in trace.blocks being touched
};

}  // namespace forebay::plan
