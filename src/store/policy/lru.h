// Least recently used, leaf first: the order that every engine's own cache uses, and the baseline.
#pragma once

#include "store/policy/order_list.h"

namespace forebay::store::policy {

class Lru final : public Policy {
 public:
  [[nodiscard]] std::string_view name() const override { return "lru"; }
  void begin_request(const RequestContext&) override { ++request_; }
  void on_insert(const BlockFacts& facts) override {
    if (facts.slot >= links_.size()) {
      links_.resize(facts.slot + 1);
      touched_.resize(facts.slot + 1);
    }
    order_.push_newest(links_, facts.slot);
    touched_[facts.slot] = request_;
  }
  void on_hit(Slot slot) override {
    order_.remove(links_, slot);
    order_.push_newest(links_, slot);
    touched_[slot] = request_;
  }
  void on_remove(Slot slot, std::uint64_t) override { order_.remove(links_, slot); }
  [[nodiscard]] Slot victim(const ChainView& view) override {
    return oldest_leaf(order_, links_, view);
  }
  [[nodiscard]] double worth(Slot slot) const override {
    return 1.0 / (1.0 + static_cast<double>(request_ - touched_[slot]));
  }
  [[nodiscard]] std::size_t bytes_used() const override {
    return links_.bytes_used() + touched_.bytes_used();
  }

 private:
  SlotArray<Links> links_;
  SlotArray<std::uint32_t> touched_;  // request of the last touch
  OrderList order_;
  std::uint32_t request_ = 0;
};

}  // namespace forebay::store::policy
