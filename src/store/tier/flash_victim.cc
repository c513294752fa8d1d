#include "store/tier/flash_victim.h"

#include <algorithm>

namespace forebay::store {
namespace {

constexpr double kMoveShare = 0.1;  // what moving a byte costs, as a share of its worth
constexpr double kRoomMin = 1e-3;

}  // namespace

bool VictimCost::better_than(const VictimCost& other) const {
  if (cost != other.cost) return cost < other.cost;
  if (moved_fraction != other.moved_fraction) return moved_fraction < other.moved_fraction;
  return sequence < other.sequence;
}

VictimCost victim_cost(const VictimFacts& facts, double moved_fraction_max) {
  std::ranges::sort(facts.samples, [](const SampledWorth& a, const SampledWorth& b) {
    return a.worth_per_byte > b.worth_per_byte;
  });
  double live_pages = 0;
  for (const SampledWorth& sample : facts.samples) live_pages += sample.live ? sample.pages : 0;
  double moved = 0;
  double moved_worth = 0;
  double lost_worth = 0;
  for (const SampledWorth& sample : facts.samples) {
    if (!sample.live || sample.worth_per_byte <= 0) continue;
    const double share = facts.live_fraction * sample.pages / live_pages;
    const double kept = std::min(share, std::max(0.0, moved_fraction_max - moved));
    moved += kept;
    moved_worth += kept * sample.worth_per_byte;
    lost_worth += (share - kept) * sample.worth_per_byte;
  }
  VictimCost result;
  result.sequence = facts.sequence;
  result.moved_fraction = moved;
  result.cost = (lost_worth + kMoveShare * moved_worth) / std::max(1 - moved, kRoomMin) /
                (1 + std::max(facts.age, 0.0));
  return result;
}

}  // namespace forebay::store
