// Time is passed in: product code asks a Clock, never the system, so that the simulator owns time.
//
// All instants are nanoseconds since an origin that only the clock knows; compare and subtract
// them, do not print them as dates. Threads: SystemClock is safe from any; ManualClock belongs to
// one.
#pragma once

#include <chrono>
#include <cstdint>

namespace forebay {

using Nanos = std::chrono::nanoseconds;

// "No deadline". Far enough never to come, near enough never to overflow an addition.
inline constexpr Nanos kForever{std::int64_t{1} << 62};

class Clock {
 public:
  virtual ~Clock() = default;
  [[nodiscard]] virtual Nanos now() const = 0;
};

// CLOCK_MONOTONIC.
class SystemClock final : public Clock {
 public:
  [[nodiscard]] Nanos now() const override;
};

// Moves only when told to.
class ManualClock final : public Clock {
 public:
  [[nodiscard]] Nanos now() const override { return now_; }
  void advance(Nanos by) { now_ += by; }
  void set(Nanos to) { now_ = to; }

 private:
  Nanos now_{0};
};

// Wall time for reports only, never for durations: nanoseconds since 1970-01-01 UTC.
[[nodiscard]] std::int64_t wall_time_ns();

// CPU time used so far by this process / this thread.
[[nodiscard]] Nanos process_cpu_time();
[[nodiscard]] Nanos thread_cpu_time();

}  // namespace forebay
