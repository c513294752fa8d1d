// Which segment to reclaim: the one whose emptying costs the least worth for the room it gives.
//
// Pure arithmetic over samples. Moving keeps the best records, up to moved_fraction_max of the
// segment; the rest is lost. cost = (worth lost + a tenth of the worth moved) / room gained, and a
// segment counts the less the longer it has not been written: what an old segment still holds is
// proven worth, what a young one holds may yet be forgotten.
#pragma once

#include <cstdint>
#include <span>

namespace forebay::store {

struct SampledWorth {
  std::uint32_t pages = 0;
  bool live = false;
  double worth_per_byte = 0;
};

struct VictimFacts {
  std::uint64_t sequence = 0;
  double live_fraction = 0;         // of the segment's pages
  double age = 0;                   // segments begun since, over all segments
  std::span<SampledWorth> samples;  // reordered
};

struct VictimCost {
  double cost = 0;
  double moved_fraction = 0;
  std::uint64_t sequence = 0;
  // Cheaper first; then less to move, then older.
  [[nodiscard]] bool better_than(const VictimCost& other) const;
};

[[nodiscard]] VictimCost victim_cost(const VictimFacts& facts, double moved_fraction_max);

}  // namespace forebay::store
