// A token bucket: a rate with a burst, in whole nanoseconds, without drift.
//
// Tokens are bytes or operations. An item starts when the bucket holds its tokens; one above the
// burst starts when the bucket is full, and takes it into debt that later items wait for. So
// nothing is locked out, and over any window the rate holds to within one burst and one item. Pure:
// time is passed in and never goes back. Threads: one owner.
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

  // When an item of `tokens` may start; not before `now`.
  [[nodiscard]] Nanos ready_at(Nanos now, std::uint64_t tokens) const {
    if (unlimited()) return now;
    // At full_at_ the bucket is full; it held `missing` tokens less that long before.
    const std::uint64_t missing = burst_ - std::min(tokens, burst_);
    return std::max(now, full_at_ - span_of(missing));
  }
  [[nodiscard]] bool ready(Nanos now, std::uint64_t tokens) const {
    return ready_at(now, tokens) <= now;
  }
  // Takes the tokens of an item that starts now; ready() was true.
  void take(std::uint64_t tokens, Nanos now) {
    if (!unlimited()) full_at_ = std::max(full_at_, now) + span_of(tokens);
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
};

}  // namespace forebay::qos
