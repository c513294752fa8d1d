// Puts together what one request of an engine did in several calls: touch() of what the engine
// still had, get() of what the store had, put() of the rest.
//
// Policies want a request as a whole, deepest block first, so that a chain goes leaf first; told
// call by call, they would see parents older than their children. So a used run waits here, named
// by its last block, for the call that continues it: a lookup that asked for more than there is
// says that one is due. What nobody continues is told after kChainsMax more, or kWaitMax.
//
// Units: blocks. Threads: one core. Memory: fixed.
#pragma once

#include <cstdint>
#include <deque>
#include <span>

#include "core/clock.h"
#include "store/index.h"
#include "store/store.h"

namespace forebay::store {

struct StoreState;

class TouchLog {
 public:
  static constexpr std::size_t kChainsMax = 64;
  static constexpr Nanos kWaitMax{2'000'000'000};

  // A run was of use, from `first` to its last block `tip`.
  void used(StoreState& state, Slot first, Slot tip, std::uint32_t block_count);
  // What follows `parent` (kNoSlot: nothing known) was put, in order from the chain's start.
  // `depth`: blocks before the first of them, by the caller's word.
  void stored(StoreState& state, Slot parent, std::span<const Slot> slots, std::uint32_t depth);
  // Tells all that waits.
  void settle(StoreState& state);
  [[nodiscard]] std::size_t waiting_count() const { return waiting_.size(); }

 private:
  struct Run {
    ShortId tip;
    std::uint32_t block_count = 0;
    Nanos since{0};
  };
  // The blocks of a waiting run that ends at `tip`; 0: none waits.
  [[nodiscard]] std::uint32_t take(const ShortId& tip);
  void tell_oldest(StoreState& state);
  std::deque<Run> waiting_;
};

}  // namespace forebay::store
