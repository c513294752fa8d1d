#include "report/operations.h"

#include <algorithm>
#include <array>

namespace forebay::report {
namespace {

constexpr std::array<std::string_view, 5> kNames{"lookup", "read dram", "read flash", "read none",
                                                 "write"};
enum Class : std::size_t { kLookup, kReadDram, kReadFlash, kReadNone, kWrite };

Class class_of(const OpRow& row) {
  if (row.direction == 1) return kWrite;
  if (row.tier == 1) return kReadDram;
  return row.tier == 2 ? kReadFlash : kReadNone;
}

}  // namespace

std::span<const std::string_view> operation_names() { return kNames; }

std::vector<OperationSample> operation_samples(const RunLog& log, std::size_t arm,
                                               std::span<const std::int64_t> rounds) {
  std::array<OperationSample, kNames.size()> samples;
  for (std::size_t i = 0; i < kNames.size(); ++i) samples[i].name = kNames[i];
  const auto counts = [&](const auto& row) {
    return row.variant == 0 && row.arm == static_cast<std::int64_t>(arm) &&
           std::ranges::binary_search(rounds, row.round);
  };
  // Without a cache beyond HBM there is nothing to look up.
  const bool asks = arm < log.facts.arms.size() && log.facts.arms[arm].kind != "recompute";
  for (const RequestRow& row : log.requests) {
    if (asks && row.lookup_ns > 0 && counts(row)) {
      samples[kLookup].latency_ns.push_back(static_cast<double>(row.lookup_ns));
    }
  }
  for (const OpRow& row : log.ops) {
    if (!counts(row)) continue;
    OperationSample& sample = samples[class_of(row)];
    sample.latency_ns.push_back(static_cast<double>(row.end_ns - row.start_ns));
    sample.bytes += static_cast<std::uint64_t>(row.bytes);
    sample.failed_blocks += static_cast<std::uint64_t>(row.failed_blocks);
  }
  std::vector<OperationSample> found;
  for (OperationSample& sample : samples) {
    if (!sample.latency_ns.empty()) found.push_back(std::move(sample));
  }
  return found;
}

}  // namespace forebay::report
