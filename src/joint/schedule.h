// Which arm runs when: every round runs every arm once, in seeded order.
//
// Rounds come in couples: the second is the first one backwards (A B C, then C B A), so that within
// a couple every two arms meet in both orders and a drift of the machine cancels. Pure.
#pragma once

#include <cstdint>
#include <vector>

namespace forebay::joint {

struct Turn {
  std::uint64_t round = 0;
  std::size_t arm = 0;
  std::size_t position = 0;  // within the round
};

[[nodiscard]] std::vector<Turn> schedule(std::size_t arm_count, std::uint64_t rounds,
                                         std::uint64_t seed);

}  // namespace forebay::joint
