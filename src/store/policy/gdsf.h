// Greedy-Dual-Size-Frequency (Cherkasova 1998): priority = clock + touches x cost / bytes.
//
// The clock rises to the priority of what is evicted, so old frequency ages. A parent is touched
// whenever its child is, at the same clock, so its priority is never lower: leaves go first; ties
// go to the one touched earlier within the request, the deeper.
#pragma once

#include "store/policy/order_list.h"

namespace forebay::store::policy {

class Gdsf final : public Policy {
 public:
  [[nodiscard]] std::string_view name() const override { return "gdsf"; }
  void begin_request(const RequestContext&) override {}
  void on_insert(const BlockFacts& facts) override;
  void on_hit(Slot slot) override;
  void on_remove(Slot slot, std::uint64_t key) override;
  [[nodiscard]] Slot victim(const ChainView& view) override;
  [[nodiscard]] double worth(Slot slot) const override { return state_[slot].priority - clock_; }
  [[nodiscard]] std::size_t bytes_used() const override {
    return state_.bytes_used() + heap_.capacity() * sizeof(Slot);
  }

 private:
  struct State {
    float density = 0;  // cost / bytes
    float priority = 0;
    std::uint32_t order = 0;  // of the last touch, for ties
    std::uint32_t place = 0;  // in the heap
    std::uint16_t touches = 0;
  };
  [[nodiscard]] bool before(Slot a, Slot b) const;
  void settle(Slot slot);
  void place(std::size_t index, Slot slot);
  void sift(std::size_t index);

  SlotArray<State> state_;
  std::vector<Slot> heap_;
  float clock_ = 0;
  std::uint32_t order_ = 0;
};

}  // namespace forebay::store::policy
