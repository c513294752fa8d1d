#include "telemetry/histogram.h"

#include <algorithm>
#include <cmath>

#include "core/check.h"
#include "telemetry/histogram_cells.h"

namespace forebay::telemetry {
using cells::highest_of;
using cells::index_of;

void Histogram::record(std::uint64_t value, std::uint64_t count) {
  if (count == 0) return;
  const std::size_t index = index_of(value);
  if (index >= counts_.size()) counts_.resize(index + 1);
  counts_[index] += count;
  count_ += count;
  min_ = std::min(min_, value);
  max_ = std::max(max_, value);
  sum_ += static_cast<double>(value) * static_cast<double>(count);
}

void Histogram::merge(const Histogram& other) {
  if (other.counts_.size() > counts_.size()) counts_.resize(other.counts_.size());
  for (std::size_t i = 0; i < other.counts_.size(); ++i) counts_[i] += other.counts_[i];
  count_ += other.count_;
  min_ = std::min(min_, other.min_);
  max_ = std::max(max_, other.max_);
  sum_ += other.sum_;
}

void Histogram::clear() { *this = Histogram(); }

std::uint64_t Histogram::min() const { return count_ == 0 ? 0 : min_; }
std::uint64_t Histogram::max() const { return max_; }
double Histogram::mean() const { return count_ == 0 ? 0 : sum_ / static_cast<double>(count_); }

std::uint64_t Histogram::quantile(double fraction) const {
  FOREBAY_CHECK(fraction >= 0 && fraction <= 1);
  if (count_ == 0) return 0;
  const auto rank = static_cast<std::uint64_t>(
      std::max(1.0, std::ceil(fraction * static_cast<double>(count_) - 1e-9)));
  std::uint64_t seen = 0;
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    seen += counts_[i];
    if (seen >= rank) return std::clamp(highest_of(i), min_, max_);
  }
  return max_;
}

std::uint64_t Histogram::count_up_to(std::uint64_t value) const {
  const std::size_t end = std::min(index_of(value) + 1, counts_.size());
  std::uint64_t seen = 0;
  for (std::size_t i = 0; i < end; ++i) seen += counts_[i];
  return seen;
}

std::optional<std::uint64_t> Histogram::honest_quantile(double fraction) const {
  if (count_ < floor_of(fraction)) return std::nullopt;
  return quantile(fraction);
}

std::uint64_t floor_of(double fraction) {
  if (fraction <= 0 || fraction >= 1) return 1;
  // Smallest n at which fewer than two of n samples lie beyond the true quantile with probability
  // 0.01 at most, so that the largest sample is an upper bound with 99 % confidence (MLPerf
  // LoadGen).
  const auto enough = [fraction](std::uint64_t n) {
    const double count = static_cast<double>(n);
    const double none = std::exp(count * std::log(fraction));
    return none * (1 + count * (1 - fraction) / fraction) <= 0.01;
  };
  std::uint64_t low = 1;
  std::uint64_t high = std::uint64_t{1} << 40;
  while (low < high) {
    const std::uint64_t middle = (low + high) / 2;
    if (enough(middle)) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

}  // namespace forebay::telemetry
