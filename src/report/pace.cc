#include "report/pace.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "gate/statistics.h"

namespace forebay::report {
namespace {

double step_lag_share(const CellRow& cell) {
  if (cell.span_ns <= 0) return 0;
  return static_cast<double>(cell.step_lag_ns_total) / static_cast<double>(cell.span_ns);
}

Pace pace_from(const CellRow& cell, std::vector<double> lags) {
  std::ranges::sort(lags);
  return {lags.empty() ? 0 : gate::order_quantile(lags, 0.99), step_lag_share(cell)};
}

}  // namespace

Pace pace_of(const CellRow& cell, std::span<const RequestRow* const> requests) {
  std::vector<double> lags;
  for (const RequestRow* row : requests) lags.push_back(static_cast<double>(row->lag_ns()));
  return pace_from(cell, std::move(lags));
}

Pace pace_of(const CellRow& cell, std::span<const RequestRow> requests) {
  std::vector<double> lags;
  for (const RequestRow& row : requests) lags.push_back(static_cast<double>(row.lag_ns()));
  return pace_from(cell, std::move(lags));
}

bool has_fault(const CellRow& cell, std::span<const RequestRow> requests) {
  return cell.wrong_blocks != 0 || std::ranges::any_of(requests, [](const RequestRow& row) {
           return row.wrong_blocks != 0 || row.state == static_cast<int>(RequestState::kFailed);
         });
}

bool is_late(const Pace& pace, const Thresholds& thresholds) {
  return pace.lag_ns_p99 / 1e6 > thresholds.lag_ms_max ||
         100 * pace.step_lag_share > 100 * thresholds.step_lag_share_max;
}

}  // namespace forebay::report
