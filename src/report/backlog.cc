#include "report/backlog.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "gate/trend.h"

namespace forebay::report {
namespace {

constexpr double kShareWorthAWord = 0.25;

template <class Value>
double mean_of(std::span<const RequestRow* const> requests, Value value) {
  double sum = 0;
  for (const RequestRow* row : requests) sum += static_cast<double>(value(*row));
  return sum / static_cast<double>(requests.size());
}

void weigh_in(double& mean, double value, std::size_t count) {
  mean += (value - mean) / static_cast<double>(count);
}

// By intended start, those that waited for no answer. A session that began in the warm-up has no
// such request after it.
std::vector<const RequestRow*> arrivals_of(std::span<const RequestRow* const> requests) {
  std::vector<const RequestRow*> rows(requests.begin(), requests.end());
  std::ranges::sort(rows, {},
                    [](const RequestRow* row) { return std::pair(row->intended_ns, row->index); });
  std::unordered_set<std::int64_t> begun;
  std::erase_if(rows, [&](const RequestRow* row) {
    const bool later_turn = row->session != 0 && !begun.insert(row->session).second;
    return later_turn || row->warm_up != 0 || !row->has_first_token();
  });
  return rows;
}

}  // namespace

bool Backlog::grew() const {
  return last_ns - first_ns >= kShareWorthAWord * last_ttft_ns &&
         gate::shows_rise(taus, independent);
}

void add_backlog(std::span<const RequestRow* const> requests, Backlog& backlog) {
  const auto rows = arrivals_of(requests);
  if (rows.size() < kBacklogRequestsMin) return;
  const std::size_t third = rows.size() / 3;
  const auto queue = [](const RequestRow& row) { return row.queue_ns; };
  const auto ttft = [](const RequestRow& row) { return row.ttft_ns(); };
  const std::span<const RequestRow* const> all(rows);
  std::vector<double> waits;
  for (const RequestRow* row : rows) waits.push_back(static_cast<double>(row->queue_ns));
  backlog.taus.push_back(gate::kendall_tau(waits));
  backlog.sessions |= std::ranges::any_of(rows, [](const auto* row) { return row->session != 0; });
  const std::size_t rounds = backlog.taus.size();
  weigh_in(backlog.first_ns, mean_of(all.first(third), queue), rounds);
  weigh_in(backlog.last_ns, mean_of(all.last(third), queue), rounds);
  weigh_in(backlog.last_ttft_ns, mean_of(all.last(third), ttft), rounds);
}

}  // namespace forebay::report
