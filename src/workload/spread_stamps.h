// Undoes what rounding did to a trace's arrivals: requests that share a stamp are spread over the
// interval that the stamp stands for, at seeded uniform instants, in their order.
//
// Mooncake's public traces round to 3 s: replayed as they are, ten requests arrive at once and then
// nothing for 3 s. Memory: the requests of one stamp, up to kBucketRequestsMax and kBucketIdsMax;
// what is beyond is spread over the rest of the interval. Threads: one owner.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "core/rng.h"
#include "workload/reader.h"

namespace forebay::workload {

// The interval that most stamps are multiples of, when they share stamps so often that rounding
// must be the reason; else 0. `stamps_ns` in file order.
[[nodiscard]] std::int64_t stamp_interval_ns(std::span<const std::int64_t> stamps_ns);

class SpreadStamps final : public TraceReader {
 public:
  static constexpr std::size_t kBucketRequestsMax = 1 << 14;
  static constexpr std::size_t kBucketIdsMax = 1 << 23;

  SpreadStamps(std::unique_ptr<TraceReader> inner, std::int64_t interval_ns, std::uint64_t seed);
  [[nodiscard]] Result<bool> next(Request& request) override;
  [[nodiscard]] std::string_view format() const override { return inner_->format(); }
  [[nodiscard]] std::vector<std::string> notes() const override;
  [[nodiscard]] std::uint64_t skipped_count() const override { return inner_->skipped_count(); }

 private:
  [[nodiscard]] Status fill();
  void spread(std::int64_t begin_ns, std::int64_t end_ns);

  std::unique_ptr<TraceReader> inner_;
  std::int64_t interval_ns_;
  std::uint64_t seed_;
  Rng rng_;
  std::vector<Request> bucket_;  // the first `size_` of them are of one stamp
  std::size_t size_ = 0;
  std::size_t served_ = 0;
  Request ahead_;  // the first request of the next stamp
  bool has_ahead_ = false;
  bool at_end_ = false;
  std::int64_t last_ns_ = 0;  // the arrival given to the request before
  std::vector<std::uint64_t> offsets_;
};

}  // namespace forebay::workload
