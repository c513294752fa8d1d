// What a few paired runs say: a ratio with an interval that keeps its promise at small counts.
//
// The unit is the run, never the request: requests of one run share its queue and its noise. A pair
// is the same workload run by two arms in one round, close in time, in seeded order, so that drift
// cancels. The effect is the logarithm of the ratio of each pair.
//
// Estimate and interval are Hodges and Lehmann's: the median of all Walsh averages of the log
// ratios, and the order statistics of the Walsh averages that the exact null distribution of the
// signed-rank statistic gives. No normality is assumed, only that a pair's log ratio is as likely
// above the true effect as below it by as much. The distribution has steps, so the confidence
// reached is printed, not the one asked for:
//
//   pairs       confidence
//   below 5     no interval: the widest one there is would hold 87.5 % at most
//   5           93.75 %, from the smallest to the largest ratio
//   6 and more  the first step at or above 95 %
//
// Pure. Units: whatever both sides of a pair share. Errors: kInvalid for values that are not finite
// and positive, or more pairs than kPairsMax.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "core/error.h"

namespace forebay::gate {

inline constexpr std::size_t kPairsMax = 200;
inline constexpr std::size_t kPairsForInterval = 5;
inline constexpr double kConfidenceWanted = 0.95;

// Which way is better: every metric says it once, and nobody guesses later.
enum class Direction : std::uint8_t { kLowerIsBetter, kHigherIsBetter };

// 0 when empty.
[[nodiscard]] double median(std::span<const double> values);
// Median of the distances from the median, not scaled to a standard deviation. 0 when empty.
[[nodiscard]] double median_absolute_deviation(std::span<const double> values);
// The smallest value that at least `fraction` of all values do not exceed (no interpolation);
// `sorted` is ascending and not empty, fraction in (0, 1].
[[nodiscard]] double order_quantile(std::span<const double> sorted, double fraction);

struct Pair {
  double candidate = 0;
  double baseline = 0;
};

struct Interval {
  double low = 0;
  double high = 0;
  double confidence = 0;  // reached, exactly
};

struct PairedRatio {
  std::size_t pair_count = 0;
  double ratio = 0;  // candidate over baseline
  std::optional<Interval> interval;
};

// kInvalid also for no pairs at all.
[[nodiscard]] Result<PairedRatio> paired_ratio(std::span<const Pair> pairs);

}  // namespace forebay::gate
