// S3-FIFO (Yang et al., SOSP 2023): a small probation queue, a main queue, and ghosts.
//
// New blocks enter the small queue (a tenth of the capacity); those touched again there, or known
// as ghosts, enter the main queue, where a touched block goes round once more for each of up to
// three touches. The ghosts are as many as the main queue holds. A chain-aware cache must differ in
// one thing: of one chain the deepest is the oldest, and a parent is passed over while a child is
// here. One touch in probation is enough, where the paper speaks of more than one: on the public
// traces that hits more often on the whole. The ghosts take 128 bytes a block: in a smaller table a
// few are lost by chance, and one lost block breaks a chain of thousands.
#pragma once

#include "store/policy/ghost_table.h"
#include "store/policy/order_list.h"

namespace forebay::store::policy {

class S3Fifo final : public Policy {
 public:
  explicit S3Fifo(const PolicyOptions& options)
      : small_blocks_(std::max<std::uint64_t>(1, options.capacity_blocks / 10)),
        ghost_blocks_(
            static_cast<std::uint32_t>(options.capacity_blocks - options.capacity_blocks / 10)),
        ghosts_(std::max<std::uint64_t>(1024, 8 * options.capacity_blocks)) {}

  [[nodiscard]] std::string_view name() const override { return "s3fifo"; }
  void begin_request(const RequestContext&) override {}
  void on_insert(const BlockFacts& facts) override;
  void on_hit(Slot slot) override {
    auto& touches = state_[slot].touches;
    if (touches < kTouchesMax) ++touches;
  }
  void on_remove(Slot slot, std::uint64_t key) override;
  [[nodiscard]] Slot victim(const ChainView& view) override;
  [[nodiscard]] double worth(Slot slot) const override {
    return static_cast<double>(state_[slot].touches) + (state_[slot].in_main ? 1 : 0);
  }
  [[nodiscard]] std::size_t bytes_used() const override {
    return links_.bytes_used() + state_.bytes_used() + ghosts_.bytes_used();
  }

 private:
  static constexpr std::uint8_t kTouchesMax = 3;
  struct State {
    std::uint8_t touches = 0;
    bool in_main = false;
  };
  void move_to_main(Slot slot);
  [[nodiscard]] Slot victim_of_small(const ChainView& view);
  [[nodiscard]] Slot victim_of_main(const ChainView& view);

  std::uint64_t small_blocks_;
  std::uint32_t ghost_blocks_;
  SlotArray<Links> links_;
  SlotArray<State> state_;
  OrderList small_;
  OrderList main_;
  GhostTable ghosts_;
  std::uint32_t ghosts_made_ = 0;  // a ghost's age is how many came after it
};

}  // namespace forebay::store::policy
