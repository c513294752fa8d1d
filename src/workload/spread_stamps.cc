#include "workload/spread_stamps.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

namespace forebay::workload {
namespace {

constexpr std::size_t kDistinctMin = 5;
constexpr std::int64_t kIntervalNsMin = 500'000'000;
// Mooncake writes 5999 for 6000: a stamp may be a millisecond or two off its multiple.
constexpr std::int64_t kSlackNs = 2'000'000;

bool near_multiple(std::int64_t gap_ns, std::int64_t interval_ns) {
  const std::int64_t rest = gap_ns % interval_ns;
  return rest <= kSlackNs || interval_ns - rest <= kSlackNs;
}

}  // namespace

std::int64_t stamp_interval_ns(std::span<const std::int64_t> stamps_ns) {
  std::vector<std::int64_t> gaps;
  for (std::size_t i = 1; i < stamps_ns.size(); ++i) {
    if (stamps_ns[i] > stamps_ns[i - 1]) gaps.push_back(stamps_ns[i] - stamps_ns[i - 1]);
  }
  // Half of the requests or more share a stamp with another, over several stamps.
  if (gaps.size() + 1 < kDistinctMin || stamps_ns.size() < 2 * (gaps.size() + 1)) return 0;
  std::vector<std::int64_t> sorted = gaps;
  std::ranges::sort(sorted);
  const std::int64_t median = sorted[sorted.size() / 2];
  const std::int64_t interval = (median + kSlackNs / 2) / kSlackNs * kSlackNs;
  if (interval < kIntervalNsMin) return 0;
  const auto fitting =
      std::ranges::count_if(gaps, [&](std::int64_t gap) { return near_multiple(gap, interval); });
  return static_cast<std::size_t>(fitting) * 10 >= gaps.size() * 9 ? interval : 0;
}

SpreadStamps::SpreadStamps(std::unique_ptr<TraceReader> inner, std::int64_t interval_ns,
                           std::uint64_t seed)
    : inner_(std::move(inner)),
      interval_ns_(interval_ns),
      seed_(seed),
      rng_(Rng(seed).fork("spread stamps")) {}

// Gathers the requests of the next stamp.
Status SpreadStamps::fill() {
  size_ = 0;
  served_ = 0;
  std::size_t ids = 0;
  while (!at_end_ && size_ < kBucketRequestsMax && ids < kBucketIdsMax) {
    if (!has_ahead_) {
      FOREBAY_TRY(more, inner_->next(ahead_));
      at_end_ = !more;
      has_ahead_ = more;
      if (at_end_) break;
    }
    if (size_ > 0 && ahead_.arrival_ns != bucket_[0].arrival_ns) break;
    if (size_ == bucket_.size()) bucket_.emplace_back();
    std::swap(bucket_[size_], ahead_);
    has_ahead_ = false;
    ids += bucket_[size_].block_ids.size();
    ++size_;
  }
  if (size_ == 0) return {};
  const std::int64_t begin = bucket_[0].arrival_ns;
  std::int64_t end = begin + interval_ns_;
  // A stamp that follows sooner than the interval (5999 after 3000) ends it early.
  if (has_ahead_ && ahead_.arrival_ns > begin) end = std::min(end, ahead_.arrival_ns);
  spread(begin, end);
  return {};
}

void SpreadStamps::spread(std::int64_t begin_ns, std::int64_t end_ns) {
  // Only a bucket that was cut by its limits begins after its stamp.
  if (last_ns_ > begin_ns && last_ns_ < end_ns) begin_ns = last_ns_;
  offsets_.resize(size_);
  for (std::uint64_t& offset : offsets_) {
    offset = rng_.below(static_cast<std::uint64_t>(end_ns - begin_ns));
  }
  std::ranges::sort(offsets_);
  for (std::size_t i = 0; i < size_; ++i) {
    bucket_[i].arrival_ns = begin_ns + static_cast<std::int64_t>(offsets_[i]);
  }
  last_ns_ = bucket_[size_ - 1].arrival_ns;
}

Result<bool> SpreadStamps::next(Request& request) {
  if (served_ == size_) FOREBAY_TRY_STATUS(fill());
  if (size_ == 0) return false;
  std::swap(request, bucket_[served_++]);
  return true;
}

std::vector<std::string> SpreadStamps::notes() const {
  std::vector<std::string> notes = inner_->notes();
  notes.insert(
      notes.begin(),
      fmt::format("stamps are rounded to {} ms; requests are spread inside their interval, "
                  "in order, with seed {}",
                  interval_ns_ / 1'000'000, seed_));
  return notes;
}

}  // namespace forebay::workload
