// Whether an arm's queue grew while its rounds lasted: then more arrived than it could serve, and
// its latencies are a matter of how long a round was.
//
// Looked at are arrivals that the arm has no part in: the first requests of sessions, and requests
// of no session. A later turn waits for the answer before, so an arm that falls behind is asked for
// less by those, and its wait in the queue falls again when no session is left to begin. Whether
// the wait of the first ones rises in the order of their starts is gate/trend.h's to say, over the
// rounds.
//
// Pure; threads: any.
#pragma once

#include <span>
#include <vector>

#include "report/rows.h"

namespace forebay::report {

// Mean time in the queue of a round's first and last third of such requests, by intended start;
// rounds weigh alike.
struct Backlog {
  double first_ns = 0;
  double last_ns = 0;
  double last_ttft_ns = 0;   // of that last third, mean
  std::vector<double> taus;  // of each round: Kendall's, of the waits against their order
  bool independent = true;   // rounds have workloads of their own
  bool sessions = false;     // some requests are of sessions

  // The wait rises, and by enough of the TTFT to be worth a word: a quarter.
  [[nodiscard]] bool grew() const;
};

// A round of fewer than kBacklogRequestsMin such requests with a first token says nothing. Takes
// all rows of one cell.
inline constexpr std::size_t kBacklogRequestsMin = 30;
void add_backlog(std::span<const RequestRow* const> requests, Backlog& backlog);

}  // namespace forebay::report
