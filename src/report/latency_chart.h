// Histograms of the storage operations' latencies, one drawing a class, one line an arm. Pure.
#pragma once

#include <string>
#include <vector>

#include "report/summary.h"

namespace forebay::report {

struct LatencyChart {
  std::string name;  // of the class of operations
  std::string svg;
};

// Classes that took no time in any arm (memory, in virtual time) have no drawing.
[[nodiscard]] std::vector<LatencyChart> latency_charts(const RunLog& log, const Summary& summary);

}  // namespace forebay::report
