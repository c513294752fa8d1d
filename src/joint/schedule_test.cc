#include "joint/schedule.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

namespace forebay::joint {
namespace {

TEST(Schedule, EveryRoundRunsEveryArmOnce) {
  const auto turns = schedule(4, 7, 1);
  ASSERT_EQ(turns.size(), 28U);
  for (std::size_t round = 0; round < 7; ++round) {
    std::set<std::size_t> arms;
    for (std::size_t i = 0; i < 4; ++i) {
      EXPECT_EQ(turns[4 * round + i].round, round);
      EXPECT_EQ(turns[4 * round + i].position, i);
      arms.insert(turns[4 * round + i].arm);
    }
    EXPECT_EQ(arms.size(), 4U);
  }
}

// What makes a drift of the machine cancel: in each couple of rounds, every arm comes before every
// other one exactly once.
TEST(Schedule, TheSecondRoundOfACoupleIsTheFirstOneBackwards) {
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    const auto turns = schedule(3, 6, seed);
    for (std::size_t couple = 0; couple < 3; ++couple) {
      for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(turns[6 * couple + i].arm, turns[6 * couple + 5 - i].arm);
      }
    }
  }
}

TEST(Schedule, TheSeedDecidesAndAllOrdersComeUp) {
  std::map<std::vector<std::size_t>, int> seen;
  for (std::uint64_t seed = 0; seed < 600; ++seed) {
    std::vector<std::size_t> order;
    for (const Turn& turn : schedule(3, 1, seed)) order.push_back(turn.arm);
    ++seen[order];
  }
  EXPECT_EQ(seen.size(), 6U);
  // 100 expected of each; five standard deviations.
  for (const auto& [order, count] : seen) EXPECT_NEAR(count, 100, 5 * 9.2);
}

}  // namespace
}  // namespace forebay::joint
