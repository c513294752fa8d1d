// What a request and its answer cost at least between two threads of this machine: blocking calls
// over loopback, no protocol, nothing computed. No path over sockets is faster without spinning.
//
// Blocks until it ended; for benchmarks only. Threads: makes one of its own, and ends it.
#pragma once

#include <cstddef>

#include "core/error.h"

namespace forebay::cli {

struct PingPong {
  std::size_t request_bytes;
  std::size_t answer_bytes;
  std::size_t count;
};

// Mean time of one, in microseconds. kIo: loopback refuses sockets.
[[nodiscard]] Result<double> ping_pong_us(const PingPong& wanted);

}  // namespace forebay::cli
