#include "telemetry/histogram.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace forebay::telemetry {
namespace {

TEST(Histogram, IsEmptyAtFirst) {
  const Histogram empty;
  EXPECT_EQ(empty.count(), 0U);
  EXPECT_EQ(empty.quantile(0.99), 0U);
  EXPECT_EQ(empty.min(), 0U);
  EXPECT_EQ(empty.max(), 0U);
}

TEST(Histogram, QuantilesOfOneToThousandAreExact) {
  Histogram histogram;
  for (std::uint64_t value = 1; value <= 1000; ++value) histogram.record(value);
  EXPECT_EQ(histogram.quantile(0), 1U);
  EXPECT_EQ(histogram.quantile(0.5), 500U);
  EXPECT_EQ(histogram.quantile(0.99), 990U);
  EXPECT_EQ(histogram.quantile(1), 1000U);
  EXPECT_DOUBLE_EQ(histogram.mean(), 500.5);
}

// The oracle is the sorted sample itself.
RC_GTEST_PROP(Histogram, QuantilesStayWithinOneInThousand, (std::vector<std::uint32_t> raw)) {
  RC_PRE(!raw.empty());
  std::vector<std::uint64_t> values;
  Histogram histogram;
  for (const std::uint32_t value : raw) {
    values.push_back(std::uint64_t{value} * value);  // spreads over 64 bits
    histogram.record(values.back());
  }
  std::ranges::sort(values);
  for (const double fraction : {0.0, 0.1, 0.5, 0.9, 0.99, 1.0}) {
    const auto rank = static_cast<std::size_t>(
        std::max(1.0, std::ceil(fraction * static_cast<double>(values.size()) - 1e-9)));
    const auto exact = static_cast<double>(values[rank - 1]);
    const auto shown = static_cast<double>(histogram.quantile(fraction));
    RC_ASSERT(shown >= exact);
    RC_ASSERT(shown <= exact * 1.001 + 1);
  }
}

RC_GTEST_PROP(Histogram, MergingEqualsRecordingAll,
              (std::vector<std::uint64_t> a, std::vector<std::uint64_t> b)) {
  Histogram left;
  Histogram right;
  Histogram whole;
  for (const auto value : a) {
    left.record(value >> 1);
    whole.record(value >> 1);
  }
  for (const auto value : b) {
    right.record(value >> 1);
    whole.record(value >> 1);
  }
  left.merge(right);
  RC_ASSERT(left.count() == whole.count());
  RC_ASSERT(left.min() == whole.min());
  RC_ASSERT(left.max() == whole.max());
  for (const double fraction : {0.01, 0.5, 0.999}) {
    RC_ASSERT(left.quantile(fraction) == whole.quantile(fraction));
  }
}

// MLPerf LoadGen's published floors at 99 % confidence.
TEST(FloorOf, AgreesWithThePublishedFloors) {
  EXPECT_EQ(floor_of(0.5), 11U);
  EXPECT_EQ(floor_of(0.9), 64U);
  EXPECT_EQ(floor_of(0.95), 130U);
  EXPECT_EQ(floor_of(0.99), 662U);
  EXPECT_EQ(floor_of(0.999), 6636U);
  EXPECT_EQ(floor_of(0.9999), 66381U);
}

TEST(HonestQuantile, SaysNothingBelowTheFloor) {
  Histogram histogram;
  histogram.record(5, 661);
  EXPECT_FALSE(histogram.honest_quantile(0.99));
  histogram.record(5);
  EXPECT_EQ(histogram.honest_quantile(0.99), 5U);
}

}  // namespace
}  // namespace forebay::telemetry
