#include "joint/schedule.h"

#include <algorithm>
#include <numeric>

#include "core/rng.h"

namespace forebay::joint {

std::vector<Turn> schedule(std::size_t arm_count, std::uint64_t rounds, std::uint64_t seed) {
  Rng rng = Rng(seed).fork("order of arms");
  std::vector<std::size_t> order(arm_count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::vector<Turn> turns;
  turns.reserve(arm_count * rounds);
  for (std::uint64_t round = 0; round < rounds; ++round) {
    if (round % 2 == 0) {
      // std::shuffle's draws differ between libraries; the order of a seed must not.
      for (std::size_t i = arm_count; i > 1; --i) std::swap(order[i - 1], order[rng.below(i)]);
    } else {
      std::ranges::reverse(order);
    }
    for (std::size_t i = 0; i < arm_count; ++i) turns.push_back({round, order[i], i});
  }
  return turns;
}

}  // namespace forebay::joint
