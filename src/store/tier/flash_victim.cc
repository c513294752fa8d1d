#include "store/tier/flash_victim.h"

#include <algorithm>

namespace forebay::store {
namespace {

// What moving a byte costs, as a share of what room costs. A move reads and writes while newcomers
// wait for the room, and wears the device: at a tenth, blocks that nobody ever read again took a
// third of the write rate.
constexpr double kMoveShare = 3.0;
constexpr double kLearnShare = 0.25;
constexpr double kRoomMin = 1e-3;

}  // namespace

bool VictimCost::better_than(const VictimCost& other) const {
  if (cost != other.cost) return cost < other.cost;
  if (moved_fraction != other.moved_fraction) return moved_fraction < other.moved_fraction;
  return sequence < other.sequence;
}

bool VictimTerms::worth_moving(double worth_per_byte) const {
  return worth_per_byte > marginal_ * (1 + kMoveShare);
}

VictimCost VictimTerms::cost_of(const VictimFacts& facts) const {
  std::ranges::sort(facts.samples, [](const SampledWorth& a, const SampledWorth& b) {
    return a.worth_per_byte > b.worth_per_byte;
  });
  double live_pages = 0;
  for (const SampledWorth& sample : facts.samples) live_pages += sample.live ? sample.pages : 0;
  double moved = 0;
  double lost_worth = 0;
  for (const SampledWorth& sample : facts.samples) {
    if (!sample.live || sample.worth_per_byte <= 0) continue;
    const double share = facts.live_fraction * sample.pages / live_pages;
    const double room = std::max(0.0, moved_fraction_max_ - moved);
    const double kept = worth_moving(sample.worth_per_byte) ? std::min(share, room) : 0;
    moved += kept;
    lost_worth += (share - kept) * sample.worth_per_byte;
  }
  VictimCost result;
  result.sequence = facts.sequence;
  result.moved_fraction = moved;
  result.cost = (lost_worth + kMoveShare * marginal_ * moved) / std::max(1 - moved, kRoomMin) /
                (1 + std::max(facts.age, 0.0));
  return result;
}

void VictimTerms::learn(double lost_worth, double room) {
  const double cost = std::max(lost_worth, 0.0) / std::max(room, kRoomMin);
  marginal_ += kLearnShare * (cost - marginal_);
}

}  // namespace forebay::store
