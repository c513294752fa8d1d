// iperf3 as the reference of a network: one stream over loopback, both ends run as children.
//
// Blocks until it ended; for benchmarks only.
#pragma once

#include <cstdint>
#include <string>

#include "core/error.h"

namespace forebay::cli {

struct IperfResult {
  double bytes_per_second = 0;
  double cpu_seconds_per_gb = 0;  // of both ends together
};

// kUnsupported: iperf3 is not installed. kIo: it failed (its words go to the log).
[[nodiscard]] Result<IperfResult> run_iperf(std::uint64_t bytes);

// "iperf 3.12", or "" without one.
[[nodiscard]] std::string iperf_version();

}  // namespace forebay::cli
