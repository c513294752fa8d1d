// Did the machine keep up with a cell: how late its client sent, and how late the emulated engine's
// steps ended. Where it did not, it set the times, and not the case.
//
// Pure.
#pragma once

#include <span>

#include "report/facts.h"
#include "report/rows.h"

namespace forebay::report {

struct Pace {
  double lag_ns_p99 = 0;      // of send - intended, warm-up included
  double step_lag_share = 0;  // of the cell's span
};

[[nodiscard]] Pace pace_of(const CellRow& cell, std::span<const RequestRow* const> requests);
[[nodiscard]] Pace pace_of(const CellRow& cell, std::span<const RequestRow> requests);
// Wrong bytes or failed requests: such an attempt counts, however late it was.
[[nodiscard]] bool has_fault(const CellRow& cell, std::span<const RequestRow> requests);
[[nodiscard]] bool is_late(const Pace& pace, const Thresholds& thresholds);

}  // namespace forebay::report
