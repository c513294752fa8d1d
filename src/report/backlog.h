// Whether an arm's queue grew while a round lasted: then more arrived than it could serve, and its
// latencies are a matter of how long the round was.
//
// Pure; threads: any.
#pragma once

#include <span>
#include <vector>

#include "report/rows.h"

namespace forebay::report {

// Mean time in the queue of a round's first and last third of requests, by intended start; rounds
// weigh alike.
struct Backlog {
  double first_ns = 0;
  double last_ns = 0;
  double last_ttft_ns = 0;  // of that last third, mean
  std::size_t round_count = 0;

  // The last third waited at least twice as long as the first, and for most of its time.
  [[nodiscard]] bool grew() const {
    return round_count > 0 && last_ns >= 2 * first_ns && 2 * last_ns >= last_ttft_ns;
  }
};

// A round of fewer than kBacklogRequestsMin requests with a first token says nothing.
inline constexpr std::size_t kBacklogRequestsMin = 30;
void add_backlog(std::span<const RequestRow* const> requests, Backlog& backlog);

}  // namespace forebay::report
