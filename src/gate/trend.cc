#include "gate/trend.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

namespace forebay::gate {
namespace {

constexpr std::size_t kSeriesForSpread = 3;
// 99 % quantiles of Student's t with 2, 3, ... degrees of freedom; beyond, the last is on the safe
// side (a normal's is 2.326).
constexpr std::array kStudent99{6.965, 4.541, 3.747, 3.365, 3.143, 2.998, 2.896, 2.821, 2.764};

// Counts of ranks that were added, by prefix.
class RankCounts {
 public:
  explicit RankCounts(std::size_t ranks) : counts_(ranks + 1) {}
  void add(std::size_t rank) {
    for (std::size_t at = rank + 1; at < counts_.size(); at += at & (~at + 1)) ++counts_[at];
  }
  [[nodiscard]] std::int64_t below(std::size_t rank) const {
    std::int64_t sum = 0;
    for (std::size_t at = rank; at > 0; at &= at - 1) sum += counts_[at];
    return sum;
  }

 private:
  std::vector<std::int64_t> counts_;
};

double mean_of(std::span<const double> values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

}  // namespace

double kendall_tau(std::span<const double> values) {
  if (values.size() < 2) return 0;
  std::vector<double> ranks(values.begin(), values.end());
  std::ranges::sort(ranks);
  ranks.erase(std::ranges::unique(ranks).begin(), ranks.end());
  RankCounts counts(ranks.size());
  std::int64_t score = 0;
  std::int64_t before = 0;
  for (const double value : values) {
    const auto rank =
        static_cast<std::size_t>(std::ranges::lower_bound(ranks, value) - ranks.begin());
    const std::int64_t larger = before - counts.below(rank + 1);
    score += counts.below(rank) - larger;
    counts.add(rank);
    ++before;
  }
  const auto count = static_cast<double>(values.size());
  return static_cast<double>(score) / (count * (count - 1) / 2);
}

bool shows_rise(std::span<const double> taus, bool independent) {
  if (taus.empty()) return false;
  const double mean = mean_of(taus);
  if (!independent || taus.size() < kSeriesForSpread) return mean >= kTauOfOne;
  double squares = 0;
  for (const double tau : taus) squares += (tau - mean) * (tau - mean);
  const double freedom = static_cast<double>(taus.size() - 1);
  const double error = std::sqrt(squares / freedom / static_cast<double>(taus.size()));
  const std::size_t row = std::min(taus.size() - kSeriesForSpread, kStudent99.size() - 1);
  return mean >= kTauOfSeveral && mean > kStudent99[row] * error;
}

}  // namespace forebay::gate
