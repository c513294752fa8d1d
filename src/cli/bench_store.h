// The store's measured rows: each beside its reference, taken in the same run, interleaved by
// round.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/bench_row.h"
#include "core/error.h"

namespace forebay::cli {

struct StoreBench {
  std::string folder;            // on the device to be measured; files are removed after
  std::uint64_t size_bytes = 0;  // of the flash tier
  std::vector<std::uint64_t> block_bytes;
  std::uint64_t in_flight_bytes = 32 << 20;
  std::size_t chain_blocks = 32;
  std::size_t rounds = 5;
  std::uint64_t round_bytes = 1ULL << 30;  // read by each side in a round
  std::uint64_t seed = 1;
  std::string prefix = "flash";  // of the row names
  double read_bar = 0.95;        // of the best fio
  double cpu_bar = 0.05;         // CPU s/GiB of reads with every check; 0: printed without a bar
};

// flash-read-<block>-<requesters>, flash-read-cpu-<block>
[[nodiscard]] Result<std::vector<BenchRow>> bench_flash_read(const StoreBench& bench);
// flash-write-<block>, flash-write-cpu-<block>: durable, against fio with a flush at the end
[[nodiscard]] Result<std::vector<BenchRow>> bench_flash_write(const StoreBench& bench);
// lookup, lookup-miss: 1,000 chained keys among a million, in process
[[nodiscard]] Result<std::vector<BenchRow>> bench_lookup(const StoreBench& bench);
// telemetry: reads with it on over reads with it off
[[nodiscard]] Result<std::vector<BenchRow>> bench_telemetry(const StoreBench& bench);
// files-read-<block>-<requesters>: the store's reads over those of a thread pool with one file a
// block
[[nodiscard]] Result<std::vector<BenchRow>> bench_files(const StoreBench& bench);
// sim-million-blocks: seconds of the cache simulator, deterministic from the seed
[[nodiscard]] Result<std::vector<BenchRow>> bench_sim(const StoreBench& bench);
// reopen, reopen-bytes: a store of 10 TB, seconds and bytes of memory a block
[[nodiscard]] Result<std::vector<BenchRow>> bench_reopen(const StoreBench& bench);

}  // namespace forebay::cli
