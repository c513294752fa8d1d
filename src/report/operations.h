// How long the storage operations of an arm took, by class: looking up, reading, writing.
//
// Lookups come from requests.csv (one a request that asked), reads and writes from ops.csv (warm-up
// included). Virtual time counts no time for what memory does, so a class may be all zeros. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "report/folder.h"

namespace forebay::report {

struct OperationSample {
  std::string_view name;            // lookup, read dram, read flash, read none, write
  std::vector<double> latency_ns;   // as they stand in the log
  std::uint64_t bytes = 0;          // moved; 0 of lookups
  std::uint64_t failed_blocks = 0;  // asked for and not moved
};

// Every name there is, in the order of a report.
[[nodiscard]] std::span<const std::string_view> operation_names();
// Classes without an operation are left out. `rounds` of variant 0, ascending.
[[nodiscard]] std::vector<OperationSample> operation_samples(const RunLog& log, std::size_t arm,
                                                             std::span<const std::int64_t> rounds);

}  // namespace forebay::report
