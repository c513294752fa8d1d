// The device's own limit through our loop, beside fio: what the store can be at most.
#pragma once

#include "cli/bench_store.h"

namespace forebay::cli {

// disk-read-<block>, disk-write-<block>: block::Device alone, random order, `in_flight_bytes` deep.
[[nodiscard]] Result<std::vector<BenchRow>> bench_disk(const StoreBench& bench);
// disk-read-<block>: of a disk by its path or URL, which is only read; beside a copy in memory.
[[nodiscard]] Result<std::vector<BenchRow>> bench_disk_reads(const StoreBench& bench,
                                                             const std::string& url);

}  // namespace forebay::cli
