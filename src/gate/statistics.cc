#include "gate/statistics.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/check.h"

namespace forebay::gate {
namespace {

std::vector<double> sorted_copy(std::span<const double> values) {
  std::vector<double> sorted(values.begin(), values.end());
  std::ranges::sort(sorted);
  return sorted;
}

double median_of_sorted(std::span<const double> sorted) {
  if (sorted.empty()) return 0;
  const std::size_t middle = sorted.size() / 2;
  if (sorted.size() % 2 == 1) return sorted[middle];
  return (sorted[middle - 1] + sorted[middle]) / 2;
}

// (x_i + x_j) / 2 for all i <= j, ascending.
std::vector<double> walsh_averages(std::span<const double> values) {
  std::vector<double> averages;
  averages.reserve(values.size() * (values.size() + 1) / 2);
  for (std::size_t i = 0; i < values.size(); ++i) {
    for (std::size_t j = i; j < values.size(); ++j) {
      averages.push_back((values[i] + values[j]) / 2);
    }
  }
  std::ranges::sort(averages);
  return averages;
}

// P(T = t) of the signed-rank statistic of n values without effect: each rank 1..n is in the sum or
// not, with even chances.
std::vector<double> signed_rank_distribution(std::size_t n) {
  const std::size_t largest = n * (n + 1) / 2;
  std::vector<double> chance(largest + 1, 0.0);
  chance[0] = 1;
  std::size_t reach = 0;
  for (std::size_t rank = 1; rank <= n; ++rank) {
    reach += rank;
    for (std::size_t sum = reach + 1; sum-- > 0;) {
      const double without = sum + rank <= reach ? chance[sum] : 0;
      const double with = sum >= rank ? chance[sum - rank] : 0;
      chance[sum] = (without + with) / 2;
    }
  }
  return chance;
}

struct Cut {
  std::size_t rank = 1;  // the interval runs from the rank-th smallest Walsh average to its mirror
  double confidence = 0;
};

// The tightest interval whose confidence is still what is wanted; the widest one when none is.
Cut choose_cut(std::size_t n) {
  const std::vector<double> chance = signed_rank_distribution(n);
  Cut best{.rank = 1, .confidence = 1 - 2 * chance[0]};
  double below = chance[0];
  for (std::size_t rank = 2; 2 * rank <= chance.size(); ++rank) {
    below += chance[rank - 1];
    if (1 - 2 * below < kConfidenceWanted) break;
    best = {.rank = rank, .confidence = 1 - 2 * below};
  }
  return best;
}

}  // namespace

double median(std::span<const double> values) { return median_of_sorted(sorted_copy(values)); }

double median_absolute_deviation(std::span<const double> values) {
  const double center = median(values);
  std::vector<double> distances;
  distances.reserve(values.size());
  for (const double value : values) distances.push_back(std::abs(value - center));
  return median(distances);
}

double order_quantile(std::span<const double> sorted, double fraction) {
  FOREBAY_CHECK(!sorted.empty());
  FOREBAY_CHECK(fraction > 0 && fraction <= 1);
  const double count = static_cast<double>(sorted.size());
  // 0.9 * 10 is a hair above 9 in binary; what is meant is 9.
  const double rank = std::ceil(fraction * count - 1e-9);
  return sorted[static_cast<std::size_t>(std::clamp(rank, 1.0, count)) - 1];
}

Result<PairedRatio> paired_ratio(std::span<const Pair> pairs) {
  if (pairs.empty()) return fail(Errc::kInvalid, "paired ratio: no pairs");
  if (pairs.size() > kPairsMax) return fail(Errc::kInvalid, "paired ratio: too many pairs");
  std::vector<double> effects;
  effects.reserve(pairs.size());
  for (const Pair& pair : pairs) {
    const bool sane = std::isfinite(pair.candidate) && std::isfinite(pair.baseline) &&
                      pair.candidate > 0 && pair.baseline > 0;
    if (!sane) return fail(Errc::kInvalid, "paired ratio: a value is not finite and positive");
    effects.push_back(std::log(pair.candidate / pair.baseline));
  }
  const std::vector<double> averages = walsh_averages(effects);
  PairedRatio result{.pair_count = pairs.size(),
                     .ratio = std::exp(median_of_sorted(averages)),
                     .interval = std::nullopt};
  if (pairs.size() < kPairsForInterval) return result;
  const Cut cut = choose_cut(pairs.size());
  result.interval = Interval{.low = std::exp(averages[cut.rank - 1]),
                             .high = std::exp(averages[averages.size() - cut.rank]),
                             .confidence = cut.confidence};
  return result;
}

}  // namespace forebay::gate
