#include "gate/statistics.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/rng.h"

namespace forebay::gate {
namespace {

// Expected values below were computed in Python 3.11 by enumerating all 2^n sign patterns; the cuts
// agree with published signed-rank tables (n = 8: ranks 4 and 33 hold 96.1 %).
const std::vector<Pair> kEight{{1.2, 2.5}, {1.0, 2.1},  {1.5, 2.4}, {1.1, 2.6},
                               {1.3, 2.2}, {1.25, 2.9}, {0.9, 2.0}, {1.6, 2.3}};

std::span<const Pair> first_pairs(std::size_t count) { return std::span(kEight).first(count); }

TEST(Statistics, MedianTakesTheMiddleOrTheMeanOfTheTwoInTheMiddle) {
  EXPECT_EQ(median({}), 0);
  EXPECT_EQ(median(std::vector<double>{3, 1, 2}), 2);
  EXPECT_EQ(median(std::vector<double>{4, 1, 2, 3}), 2.5);
}

TEST(Statistics, MedianAbsoluteDeviationIgnoresOneWildValue) {
  EXPECT_EQ(median_absolute_deviation(std::vector<double>{1, 2, 3, 4, 1000}), 1);
  EXPECT_EQ(median_absolute_deviation({}), 0);
}

TEST(Statistics, OrderQuantileIsAValueThatWasSeen) {
  std::vector<double> ten{1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  EXPECT_EQ(order_quantile(ten, 0.5), 5);
  EXPECT_EQ(order_quantile(ten, 0.9), 9);
  EXPECT_EQ(order_quantile(ten, 0.91), 10);
  EXPECT_EQ(order_quantile(ten, 1), 10);
  EXPECT_EQ(order_quantile(ten, 0.0001), 1);
}

TEST(Statistics, SixPairsGiveTheWholeRangeOfRatiosAtNinetySevenPercent) {
  const auto result = paired_ratio(first_pairs(6));
  ASSERT_TRUE(result);
  EXPECT_NEAR(result->ratio, 0.5, 1e-12);
  ASSERT_TRUE(result->interval);
  EXPECT_NEAR(result->interval->low, 0.4230769230769231, 1e-12);
  EXPECT_NEAR(result->interval->high, 0.625, 1e-12);
  EXPECT_DOUBLE_EQ(result->interval->confidence, 0.96875);
}

TEST(Statistics, EightPairsCutTheOutermostWalshAverages) {
  const auto result = paired_ratio(first_pairs(8));
  ASSERT_TRUE(result);
  EXPECT_NEAR(result->ratio, 0.5149417859767794, 1e-12);
  EXPECT_NEAR(result->interval->low, 0.4363308554120547, 1e-12);
  EXPECT_NEAR(result->interval->high, 0.625, 1e-12);
  EXPECT_DOUBLE_EQ(result->interval->confidence, 0.9609375);
}

TEST(Statistics, FivePairsCannotReachNinetyFivePercentAndSaySo) {
  const auto result = paired_ratio(first_pairs(5));
  ASSERT_TRUE(result);
  EXPECT_NEAR(result->ratio, 0.5142208445046514, 1e-12);
  EXPECT_DOUBLE_EQ(result->interval->confidence, 0.9375);
}

TEST(Statistics, FewerThanFivePairsGiveARatioWithoutAnInterval) {
  const auto result = paired_ratio(first_pairs(3));
  ASSERT_TRUE(result);
  EXPECT_NEAR(result->ratio, 0.5117240157381622, 1e-12);
  EXPECT_FALSE(result->interval);
}

TEST(Statistics, ConfidenceFollowsTheExactDistribution) {
  const auto confidence = [](std::size_t count) {
    std::vector<Pair> pairs;
    for (std::size_t i = 0; i < count; ++i)
      pairs.push_back({1.0 + 0.01 * static_cast<double>(i), 2.0});
    return paired_ratio(pairs)->interval->confidence;
  };
  EXPECT_DOUBLE_EQ(confidence(7), 0.953125);
  EXPECT_DOUBLE_EQ(confidence(10), 0.951171875);
  EXPECT_DOUBLE_EQ(confidence(12), 0.95751953125);
  EXPECT_NEAR(confidence(15), 0.95208740234375, 1e-15);
}

TEST(Statistics, ValuesThatCannotBeAreRefused) {
  const double infinity = std::numeric_limits<double>::infinity();
  for (const Pair bad : {Pair{0, 1}, Pair{1, 0}, Pair{-1, 1}, Pair{infinity, 1},
                         Pair{1, std::numeric_limits<double>::quiet_NaN()}}) {
    const auto result = paired_ratio(std::vector<Pair>{{1, 2}, bad});
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, Errc::kInvalid);
  }
  EXPECT_FALSE(paired_ratio({}));
  EXPECT_FALSE(paired_ratio(std::vector<Pair>(kPairsMax + 1, Pair{1, 1})));
  EXPECT_TRUE(paired_ratio(std::vector<Pair>(kPairsMax, Pair{1, 1})));
}

// The promise itself: of many experiments without an effect, the interval misses 1 in the share
// that its confidence admits. Binomial bound at five standard deviations, fixed seed.
TEST(Statistics, AnIntervalMissesTheTruthAsOftenAsItAdmits) {
  Rng rng(7);
  constexpr int kExperiments = 4000;
  for (const std::size_t count : {6U, 10U}) {
    int missed = 0;
    double confidence = 0;
    for (int i = 0; i < kExperiments; ++i) {
      std::vector<Pair> pairs;
      for (std::size_t k = 0; k < count; ++k) pairs.push_back({std::exp(0.3 * rng.normal()), 1});
      const auto result = paired_ratio(pairs);
      confidence = result->interval->confidence;
      missed += result->interval->low > 1 || result->interval->high < 1;
    }
    const double expected = (1 - confidence) * kExperiments;
    EXPECT_NEAR(missed, expected, 5 * std::sqrt(expected)) << count;
  }
}

RC_GTEST_PROP(Statistics, SwappingTheSidesInvertsRatioAndInterval, ()) {
  const auto values = *rc::gen::container<std::vector<std::pair<int, int>>>(
      *rc::gen::inRange<std::size_t>(5, 20),
      rc::gen::pair(rc::gen::inRange(1, 1000), rc::gen::inRange(1, 1000)));
  std::vector<Pair> pairs;
  std::vector<Pair> swapped;
  for (const auto& [a, b] : values) {
    pairs.push_back({static_cast<double>(a), static_cast<double>(b)});
    swapped.push_back({static_cast<double>(b), static_cast<double>(a)});
  }
  const auto forward = paired_ratio(pairs);
  const auto backward = paired_ratio(swapped);
  RC_ASSERT(std::abs(forward->ratio * backward->ratio - 1) < 1e-9);
  RC_ASSERT(std::abs(forward->interval->low * backward->interval->high - 1) < 1e-9);
  RC_ASSERT(forward->interval->low <= forward->ratio * (1 + 1e-12));
  RC_ASSERT(forward->ratio <= forward->interval->high * (1 + 1e-12));
}

}  // namespace
}  // namespace forebay::gate
