// The open-loop client: says when each request is due, whatever the engine is doing.
//
// Requests without a parent are due at their arrival; the others think_ns after their parent ended,
// or at their arrival if that is later. An intended instant, once known, never shifts.
//
// Ownership: `requests` outlives this. Threads: one loop. Memory: the requests that wait for their
// instant, plus one link for each request with a parent.
#pragma once

#include <cstdint>
#include <functional>
#include <queue>
#include <span>
#include <utility>
#include <vector>

#include "io/loop.h"
#include "workload/request.h"

namespace forebay::engine {

class Arrivals {
 public:
  // Called on the loop at (or, when the loop lags, after) the intended instant.
  using OnDue = std::function<void(std::size_t position, Nanos intended)>;

  Arrivals(io::Loop& loop, std::span<const workload::Request> requests, OnDue on_due);
  void start(Nanos origin);
  // The request at `position` ended now: its children become due.
  void ended(std::size_t position);
  void stop();

 private:
  struct Due {
    Nanos at;
    std::size_t position;
    friend bool operator>(const Due& a, const Due& b) {
      return a.at != b.at ? a.at > b.at : a.position > b.position;
    }
  };
  void push_next_root();
  void arm();
  void fire();

  io::Loop& loop_;
  std::span<const workload::Request> requests_;
  OnDue on_due_;
  Nanos origin_{0};
  std::size_t next_root_ = 0;
  std::vector<bool> has_parent_;
  std::vector<std::pair<std::size_t, std::size_t>> children_;  // (parent, child), sorted
  std::priority_queue<Due, std::vector<Due>, std::greater<>> due_;
  io::Loop::Timer timer_;
};

}  // namespace forebay::engine
