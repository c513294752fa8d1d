// NVMe over TCP, both ends on this machine, beside what its loopback and its memory can do.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/bench_row.h"
#include "core/error.h"

namespace forebay::cli {

struct FabricBench {
  std::vector<std::uint64_t> block_bytes;  // of the rows against iperf3
  std::vector<std::uint64_t> depths;
  std::size_t rounds = 5;
  std::uint64_t round_bytes = 1ULL << 30;  // carried by each side in a round
  std::uint64_t seed = 1;
};

// fabric-read-<block>-<depth>, fabric-write-<block>-<depth>: over one stream of iperf3
[[nodiscard]] Result<std::vector<BenchRow>> bench_fabric_stream(const FabricBench& bench);
// fabric-read-<block>-<depth> of a namespace on another machine, in GB/s; it is only read
[[nodiscard]] Result<std::vector<BenchRow>> bench_fabric_remote(const FabricBench& bench,
                                                                const std::string& url);
// fabric-digests-<block>: reads with both digests over reads without
[[nodiscard]] Result<std::vector<BenchRow>> bench_fabric_digests(const FabricBench& bench);
// fabric-tls-read-<block>, fabric-tls-write-<block>: GB/s over TLS, and what a core of each end
// does
[[nodiscard]] Result<std::vector<BenchRow>> bench_fabric_tls(const FabricBench& bench);
// fabric-iops-4k-128, fabric-latency-4k-1
[[nodiscard]] Result<std::vector<BenchRow>> bench_fabric_small(const FabricBench& bench);
// fabric-idle: the target's share of a core while a host is connected and asks for nothing
[[nodiscard]] Result<std::vector<BenchRow>> bench_fabric_idle(const FabricBench& bench);

}  // namespace forebay::cli
