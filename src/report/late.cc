#include "report/late.h"

#include <fmt/core.h>

#include <array>
#include <map>
#include <set>
#include <span>

namespace forebay::report {
namespace {

using Key = std::array<std::int64_t, 4>;  // variant, round, arm, attempt

template <class Row>
Key key_of(const Row& row) {
  return {row.variant, row.round, row.arm, row.attempt};
}

using RequestsByAttempt = std::map<Key, std::vector<const RequestRow*>>;

RequestsByAttempt group(const RunLog& log) {
  RequestsByAttempt groups;
  for (const RequestRow& row : log.late_requests) groups[key_of(row)].push_back(&row);
  return groups;
}

std::string pace_text(const Pace& pace) {
  return fmt::format("lag p99 {:.1f} ms, steps late by {:.1f} % of the time", pace.lag_ns_p99 / 1e6,
                     100 * pace.step_lag_share);
}

}  // namespace

std::vector<LateAttempt> late_attempts(const RunLog& log) {
  const RequestsByAttempt groups = group(log);
  const auto names = log.facts.arm_names();
  std::vector<LateAttempt> attempts;
  for (const CellRow& cell : log.late_cells) {
    if (static_cast<std::uint64_t>(cell.arm) >= names.size()) continue;
    const auto requests = groups.find(key_of(cell));
    const std::span<const RequestRow* const> rows =
        requests == groups.end() ? std::span<const RequestRow* const>() : requests->second;
    attempts.push_back({std::string(names[static_cast<std::size_t>(cell.arm)]),
                        static_cast<std::uint64_t>(cell.variant),
                        static_cast<std::uint64_t>(cell.round),
                        static_cast<std::uint64_t>(cell.attempt), pace_of(cell, rows)});
  }
  return attempts;
}

std::vector<std::string> check_late(const RunLog& log) {
  RequestsByAttempt groups = group(log);
  std::set<Key> seen;
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < log.late_cells.size(); ++i) {
    const CellRow& cell = log.late_cells[i];
    const auto note = [&](std::string_view what) {
      lines.push_back(fmt::format("{}:{}: {}", kLateCellsFile, i + 2, what));
    };
    const Key key = key_of(cell);
    const auto& requests = groups[key];
    const Pace pace = pace_of(cell, requests);
    if (!is_late(pace, log.facts.thresholds)) {
      note(fmt::format("was done again though it was not late ({})", pace_text(pace)));
    }
    if (cell.wrong_blocks != 0 || !cell.complete()) {
      note("was done again though it held wrong bytes or did not end");
    }
    if (static_cast<std::size_t>(cell.requests) != requests.size()) {
      note(fmt::format("column `requests` says {}, {} gives {}", cell.requests, kLateRequestsFile,
                       requests.size()));
    }
    if (!seen.insert(key).second) note("is a second row of the same attempt");
    const bool first = cell.attempt == 1;
    if (!first && !seen.contains({key[0], key[1], key[2], cell.attempt - 1})) {
      note(fmt::format("is attempt {}; the one before is not there", cell.attempt));
    }
  }
  return lines;
}

}  // namespace forebay::report
