#include "gate/trend.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <vector>

#include "core/rng.h"

namespace forebay::gate {
namespace {

using Series = std::vector<double>;

// By its definition: all pairs.
double tau_of_all_pairs(const Series& values) {
  double score = 0;
  for (std::size_t j = 0; j < values.size(); ++j) {
    for (std::size_t i = 0; i < j; ++i) {
      score += (values[j] > values[i]) - (values[j] < values[i]);
    }
  }
  const auto count = static_cast<double>(values.size());
  return score / (count * (count - 1) / 2);
}

TEST(Trend, TauIsTheShareOfRisingPairsLessThatOfFallingOnes) {
  EXPECT_EQ(kendall_tau(Series{1, 2, 3, 4}), 1);
  EXPECT_EQ(kendall_tau(Series{4, 3, 2, 1}), -1);
  EXPECT_EQ(kendall_tau(Series{5, 5, 5}), 0);
  EXPECT_EQ(kendall_tau(Series{}), 0);
  EXPECT_EQ(kendall_tau(Series{7}), 0);
  // Kendall 1938: of 1..10 in the order 4 7 2 10 3 6 8 1 5 9, 25 pairs rise and 20 fall.
  EXPECT_DOUBLE_EQ(kendall_tau(Series{4, 7, 2, 10, 3, 6, 8, 1, 5, 9}), 5.0 / 45);
  Rng rng(3);
  for (std::size_t size = 2; size < 60; ++size) {
    Series values(size);
    for (double& value : values) value = static_cast<double>(rng.below(20));  // with equal ones
    EXPECT_DOUBLE_EQ(kendall_tau(values), tau_of_all_pairs(values));
  }
}

// Values whose neighbours correlate by `correlation`, from the first on as from any later one.
Series hanging_together(Rng& rng, double correlation, std::size_t size) {
  Series values;
  double value = rng.normal() / std::sqrt(1 - correlation * correlation);
  for (std::size_t i = 0; i < size; ++i) {
    values.push_back(value);
    value = correlation * value + rng.normal();
  }
  return values;
}

// Waits in the queue of one server whose arrivals bring `load` times what it serves (Lindley's
// recursion), from the wait of the first one on.
Series queueing(Rng& rng, double load, double wait, std::size_t size) {
  Series waits;
  for (std::size_t i = 0; i < size; ++i) {
    waits.push_back(wait);
    wait = std::max(0.0, wait + load * rng.exponential() - rng.exponential());
  }
  return waits;
}

// That wait once the queue has settled: M/M/1.
double settled_wait(Rng& rng, double load) {
  return rng.chance(load) ? rng.exponential() * load / (1 - load) : 0;
}

constexpr int kTrials = 2000;

double share_shown(std::size_t series_count, bool independent,
                   const std::function<Series()>& draw) {
  int shown = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::vector<double> taus;
    for (std::size_t i = 0; i < series_count; ++i) taus.push_back(kendall_tau(draw()));
    shown += shows_rise(taus, independent);
  }
  return static_cast<double>(shown) / kTrials;
}

constexpr std::array<std::size_t, 7> kSeriesCounts{1, 3, 4, 5, 6, 8, 10};

TEST(Trend, WithoutARiseItIsSilentHoweverNeighboursHangTogether) {
  Rng rng(1);
  for (const std::size_t count : kSeriesCounts) {
    for (const double correlation : {0.0, 0.5, 0.9}) {
      EXPECT_LE(share_shown(count, true, [&] { return hanging_together(rng, correlation, 30); }),
                kRiseFalseAlarms)
          << count << " series, correlation " << correlation;
    }
    EXPECT_LE(
        share_shown(count, true, [&] { return queueing(rng, 0.8, settled_wait(rng, 0.8), 30); }),
        kRiseFalseAlarms)
        << count << " series of a queue that has settled";
  }
}

TEST(Trend, AQueueThatGrowsIsShownWhateverTheNumberOfSeries) {
  Rng rng(2);
  for (const std::size_t count : kSeriesCounts) {
    EXPECT_GE(share_shown(count, true, [&] { return queueing(rng, 2, 0, 60); }),
              count == 1 ? 0.85 : 0.95)
        << count;
  }
}

TEST(Trend, ASmallRiseIsNoneThoughItIsSure) {
  // As many digits as chance never gives: its t is beyond any table.
  EXPECT_FALSE(shows_rise(std::vector<double>{0.301, 0.299, 0.3, 0.3}, true));
  EXPECT_TRUE(shows_rise(std::vector<double>{0.601, 0.599, 0.6, 0.6}, true));
}

// Student's t of the four is 4.11, of the five 4.76; the 99 % quantiles (any table) 4.541, 3.747.
TEST(Trend, ARiseThatTheSeriesDoNotAgreeOnIsNone) {
  EXPECT_FALSE(shows_rise(std::vector<double>{0.9, 0.2, 0.95, 0.9}, true));
  EXPECT_TRUE(shows_rise(std::vector<double>{0.9, 0.2, 0.9, 0.9, 0.5}, true));
  EXPECT_FALSE(shows_rise(std::vector<double>{1, 1, -0.5, 1}, true));
}

TEST(Trend, SeriesThatRepeatEachOtherAreOne) {
  const std::vector<double> taus(10, 0.6);
  EXPECT_TRUE(shows_rise(taus, true));
  EXPECT_FALSE(shows_rise(taus, false));
  EXPECT_TRUE(shows_rise(std::vector<double>(2, 0.85), false));
  EXPECT_FALSE(shows_rise({}, true));
}

}  // namespace
}  // namespace forebay::gate
