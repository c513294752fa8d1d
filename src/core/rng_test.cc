#include "core/rng.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

namespace forebay {
namespace {

constexpr int kDraws = 200'000;

// splitmix64's published first outputs for state 0 (the state advances by the golden gamma).
TEST(Mix64, AgreesWithSplitmix64) {
  EXPECT_EQ(mix64(0), 0xe220a8397b1dcdafULL);
  EXPECT_EQ(mix64(0x9e3779b97f4a7c15ULL), 0x6e789e6aa1b965f4ULL);
}

TEST(Rng, SameSeedSameSequence) {
  Rng a(7);
  Rng b(7);
  Rng c(8);
  bool differs = false;
  for (int i = 0; i < 100; ++i) {
    const auto value = a.next();
    EXPECT_EQ(value, b.next());
    differs = differs || value != c.next();
  }
  EXPECT_TRUE(differs);
}

TEST(Rng, ForkDependsOnTheNameNotOnEarlierDraws) {
  Rng a(7);
  const auto before = a.fork("arrivals").next();
  (void)a.next();
  EXPECT_EQ(a.fork("arrivals").next(), before);
  EXPECT_NE(a.fork("lengths").next(), before);
}

TEST(Rng, BelowIsUniform) {
  Rng rng(1);
  std::map<std::uint64_t, int> seen;
  for (int i = 0; i < kDraws; ++i) ++seen[rng.below(10)];
  ASSERT_EQ(seen.size(), 10U);
  // Five standard deviations of a binomial count.
  const double expected = kDraws / 10.0;
  for (const auto& [value, count] : seen) {
    EXPECT_NEAR(count, expected, 5 * std::sqrt(expected * 0.9)) << value;
  }
}

struct Moments {
  double mean = 0;
  double variance = 0;
};
template <class Draw>
Moments moments(Draw draw) {
  double sum = 0;
  double squares = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double x = draw();
    sum += x;
    squares += x * x;
  }
  const double mean = sum / kDraws;
  return {mean, squares / kDraws - mean * mean};
}

TEST(Rng, DistributionsHaveTheirMoments) {
  Rng rng(2);
  const auto exponential = moments([&] { return rng.exponential(); });
  EXPECT_NEAR(exponential.mean, 1, 0.02);
  EXPECT_NEAR(exponential.variance, 1, 0.05);
  const auto normal = moments([&] { return rng.normal(); });
  EXPECT_NEAR(normal.mean, 0, 0.02);
  EXPECT_NEAR(normal.variance, 1, 0.03);
  // Gamma(shape k, scale s): mean ks, variance ks^2.
  const auto gamma = moments([&] { return rng.gamma(0.25, 4); });
  EXPECT_NEAR(gamma.mean, 1, 0.04);
  EXPECT_NEAR(gamma.variance, 4, 0.3);
}

}  // namespace
}  // namespace forebay
