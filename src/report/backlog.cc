#include "report/backlog.h"

#include <algorithm>
#include <utility>

namespace forebay::report {
namespace {

template <class Value>
double mean_of(std::span<const RequestRow* const> requests, Value value) {
  double sum = 0;
  for (const RequestRow* row : requests) sum += static_cast<double>(value(*row));
  return sum / static_cast<double>(requests.size());
}

void weigh_in(double& mean, double value, std::size_t count) {
  mean += (value - mean) / static_cast<double>(count);
}

}  // namespace

void add_backlog(std::span<const RequestRow* const> requests, Backlog& backlog) {
  std::vector<const RequestRow*> rows;
  for (const RequestRow* row : requests) {
    if (row->warm_up == 0 && row->has_first_token()) rows.push_back(row);
  }
  if (rows.size() < kBacklogRequestsMin) return;
  std::ranges::sort(rows, {},
                    [](const RequestRow* row) { return std::pair(row->intended_ns, row->index); });
  const std::size_t third = rows.size() / 3;
  const auto queue = [](const RequestRow& row) { return row.queue_ns; };
  const auto ttft = [](const RequestRow& row) { return row.ttft_ns(); };
  const std::span<const RequestRow* const> all(rows);
  ++backlog.round_count;
  weigh_in(backlog.first_ns, mean_of(all.first(third), queue), backlog.round_count);
  weigh_in(backlog.last_ns, mean_of(all.last(third), queue), backlog.round_count);
  weigh_in(backlog.last_ttft_ns, mean_of(all.last(third), ttft), backlog.round_count);
}

}  // namespace forebay::report
