#include "workload/draws.h"

#include <gtest/gtest.h>

#include <cmath>

namespace forebay::workload {
namespace {

TEST(Draws, LogAgreesWithTheCLibrary) {
  Rng rng(1);
  for (int i = 0; i < 100'000; ++i) {
    const double value = std::ldexp(1 + rng.uniform(), static_cast<int>(rng.below(2000)) - 1000);
    const double expected = std::log(value);
    ASSERT_NEAR(exact_log(value), expected, 4e-16 * std::max(1.0, std::abs(expected))) << value;
  }
  EXPECT_EQ(exact_log(1), 0);
  // Near 1 the result is small: relative, not absolute, agreement.
  EXPECT_NEAR(exact_log(1 + 1e-9) / std::log(1 + 1e-9), 1, 1e-15);
}

TEST(Draws, ExpAgreesWithTheCLibrary) {
  Rng rng(2);
  for (int i = 0; i < 100'000; ++i) {
    const double value = (rng.uniform() * 2 - 1) * 700;
    ASSERT_NEAR(exact_exp(value) / std::exp(value), 1, 1e-15) << value;
  }
  EXPECT_EQ(exact_exp(0), 1);
}

struct Moments {
  double mean = 0;
  double variance = 0;
};

template <class Draw>
Moments moments(Draw draw, int count = 200'000) {
  double sum = 0;
  double squares = 0;
  for (int i = 0; i < count; ++i) {
    const double value = draw();
    sum += value;
    squares += value * value;
  }
  const double mean = sum / count;
  return {mean, squares / count - mean * mean};
}

// Bounds are six standard errors of the mean, and as much of the variance.
TEST(Draws, MomentsAreThoseOfTheDistributions) {
  Rng rng(3);
  const Moments exponential = moments([&] { return draw_exponential(rng); });
  EXPECT_NEAR(exponential.mean, 1, 0.014);
  EXPECT_NEAR(exponential.variance, 1, 0.04);
  const Moments normal = moments([&] { return draw_normal(rng); });
  EXPECT_NEAR(normal.mean, 0, 0.014);
  EXPECT_NEAR(normal.variance, 1, 0.02);
  for (const double shape : {0.04, 0.5, 1.0, 7.0}) {
    const Moments gamma = moments([&] { return draw_gamma(rng, shape); });
    EXPECT_NEAR(gamma.mean, shape, 6 * std::sqrt(shape / 200'000)) << shape;
    // Var(s^2) of Gamma: (6 k + 2 k^2) / n for shape k.
    EXPECT_NEAR(gamma.variance, shape, 6 * std::sqrt((6 * shape + 2 * shape * shape) / 200'000))
        << shape;
  }
  const Moments lognormal = moments([&] { return draw_lognormal(rng, 0.5); });
  EXPECT_NEAR(lognormal.mean, std::exp(0.125), 0.01);
}

TEST(Draws, ZipfRanksFollowTheirWeights) {
  const Zipf zipf(4, 1);  // 12/25, 6/25, 4/25, 3/25
  Rng rng(4);
  std::array<int, 4> counts{};
  for (int i = 0; i < 100'000; ++i) ++counts[zipf.draw(rng)];
  const std::array<double, 4> expected{48'000, 24'000, 16'000, 12'000};
  double chi_square = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    chi_square += (counts[i] - expected[i]) * (counts[i] - expected[i]) / expected[i];
  }
  EXPECT_LT(chi_square, 16.27);  // 3 degrees of freedom, alpha 0.001
}

TEST(Draws, ZipfOfExponentZeroIsUniform) {
  const Zipf zipf(10, 0);
  Rng rng(5);
  std::array<int, 10> counts{};
  for (int i = 0; i < 100'000; ++i) ++counts[zipf.draw(rng)];
  for (const int count : counts) EXPECT_NEAR(count, 10'000, 600);
}

}  // namespace
}  // namespace forebay::workload
