// A token bucket: a rate with a burst, in whole nanoseconds, without drift.
//
// Tokens are bytes or operations. A large item may take the bucket into debt (it starts when the
// bucket is not in debt, and later items wait for the debt): so an item above the burst still runs,
// and over any window the rate holds to within one item and one burst. Pure: time is passed in and
// never goes back. Threads: one owner.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/clock.h"

namespace forebay::qos {

class TokenBucket {
 public:
  TokenBucket() = default;  // no limit
  TokenBucket(std::uint64_t rate_per_second, std::uint64_t burst)
      : rate_(rate_per_second), burst_(std::max<std::uint64_t>(burst, 1)) {}

  [[nodiscard]] bool unlimited() const { return rate_ == 0; }

  // May an item start now?
  [[nodiscard]] bool ready(Nanos now) const { return unlimited() || now >= ready_at_; }
  // When the next item may start; not before `now`.
  [[nodiscard]] Nanos ready_at(Nanos now) const {
    return unlimited() ? now : std::max(now, ready_at_);
  }
  // Takes `tokens` for an item that starts now; ready() was true.
  void take(std::uint64_t tokens, Nanos now) {
    if (unlimited()) return;
    // "Full at": the instant at which the bucket would be full. Taking pushes it back; the bucket
    // is in debt while it lies more than one burst ahead.
    full_at_ = std::max(full_at_, now) + span_of(tokens);
    ready_at_ = full_at_ - span_of(burst_);
  }

 private:
  [[nodiscard]] Nanos span_of(std::uint64_t tokens) const {
    const auto wide = static_cast<unsigned __int128>(tokens) * 1'000'000'000U / rate_;
    return Nanos(static_cast<std::int64_t>(
        std::min<unsigned __int128>(wide, static_cast<unsigned __int128>(kForever.count()) / 4)));
  }
  std::uint64_t rate_ = 0;
  std::uint64_t burst_ = 1;
  Nanos full_at_{0};
  Nanos ready_at_{0};
};

}  // namespace forebay::qos
