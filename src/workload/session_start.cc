#include "workload/session_start.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "workload/draws.h"
#include "workload/row_reader.h"

namespace forebay::workload {

SessionStart::SessionStart(const ReadOptions& options)
    : rng_(Rng(options.seed).fork("session start")),
      seed_(options.seed),
      gap_ns_mean_(std::clamp<std::int64_t>(options.session_gap_ns_mean, 0, kTimeNsMax)) {}

std::int64_t SessionStart::next_ns() {
  if (count_++ == 0) return 0;
  const double gap = draw_exponential(rng_) * static_cast<double>(gap_ns_mean_);
  now_ns_ = std::min<std::int64_t>(kTimeNsMax, now_ns_ + std::llround(gap));
  return now_ns_;
}

std::string SessionStart::note() const {
  return fmt::format(
      "sessions were recorded without a common clock: {} of them begin after "
      "exponential gaps of mean {} s, with seed {}",
      count_, static_cast<double>(gap_ns_mean_) / 1e9, seed_);
}

}  // namespace forebay::workload
