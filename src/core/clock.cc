#include "core/clock.h"

#include <ctime>

namespace forebay {
namespace {

Nanos read_clock(clockid_t id) {
  timespec time{};
  clock_gettime(id, &time);
  return std::chrono::seconds(time.tv_sec) + Nanos(time.tv_nsec);
}

}  // namespace

Nanos SystemClock::now() const { return read_clock(CLOCK_MONOTONIC); }
std::int64_t wall_time_ns() { return read_clock(CLOCK_REALTIME).count(); }
Nanos process_cpu_time() { return read_clock(CLOCK_PROCESS_CPUTIME_ID); }
Nanos thread_cpu_time() { return read_clock(CLOCK_THREAD_CPUTIME_ID); }

}  // namespace forebay
