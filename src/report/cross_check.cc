#include "report/cross_check.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "report/late.h"

namespace forebay::report {
namespace {

using Key = std::array<std::int64_t, 3>;  // variant, round, arm

template <class Row>
Key key_of(const Row& row) {
  return {row.variant, row.round, row.arm};
}

constexpr std::int64_t kFlashTier = 2;  // of the column `tier`

// What the other logs say about a cell.
struct Seen {
  std::int64_t requests = 0;
  std::int64_t first_intended_ns = 0;
  std::int64_t last_end_ns = 0;
  std::int64_t wrong_blocks = 0;
  std::int64_t preemptions = 0;
  std::int64_t read_bytes = 0;
  std::int64_t written_bytes = 0;
};

class Checker {
 public:
  explicit Checker(const RunLog& log) : log_(log) {
    for (const RequestRow& row : log.requests) add(row);
    for (const TrafficRow& row : log.traffic) {
      if (row.tier != kFlashTier) continue;
      Seen& seen = seen_[key_of(row)];
      seen.read_bytes += row.read_bytes;
      seen.written_bytes += row.written_bytes;
    }
  }

  std::vector<std::string> run() {
    for (std::size_t i = 0; i < log_.cells.size(); ++i) check_cell(i);
    for (std::size_t i = 0; i < log_.requests.size(); ++i) check_request(i);
    return std::move(lines_);
  }

 private:
  void add(const RequestRow& row) {
    Seen& seen = seen_[key_of(row)];
    seen.first_intended_ns =
        seen.requests == 0 ? row.intended_ns : std::min(seen.first_intended_ns, row.intended_ns);
    seen.last_end_ns = std::max(seen.last_end_ns, row.end_ns);
    ++seen.requests;
    seen.wrong_blocks += row.wrong_blocks;
    seen.preemptions += row.preemptions;
  }

  void check_cell(std::size_t index) {
    const CellRow& row = log_.cells[index];
    const Seen& seen = seen_[key_of(row)];
    const auto same = [&](std::string_view column, std::int64_t said, std::int64_t found,
                          std::string_view other) {
      if (said == found) return;
      note(kCellsFile, index,
           fmt::format("column `{}` says {}, {} gives {}", column, said, other, found));
    };
    if (!cells_.insert({key_of(row), index}).second) {
      note(kCellsFile, index, "is a second row of the same arm, round and variant");
    }
    const auto rounds = static_cast<std::int64_t>(row.variant == 0 ? log_.facts.rounds_wanted : 1);
    if (row.round < 0 || row.round >= std::max<std::int64_t>(1, rounds)) {
      note(kCellsFile, index,
           fmt::format("column `round` says {}, run.json has {} rounds", row.round, rounds));
    }
    if (row.variant < 0 || static_cast<std::size_t>(row.variant) > log_.facts.variants.size()) {
      note(kCellsFile, index,
           fmt::format("column `variant` says {}, run.json has {} variants", row.variant,
                       log_.facts.variants.size()));
    }
    same("requests", row.requests, seen.requests, kRequestsFile);
    same("span_ns", row.span_ns,
         std::max<std::int64_t>(0, seen.last_end_ns - seen.first_intended_ns), kRequestsFile);
    same("wrong_blocks", row.wrong_blocks, seen.wrong_blocks, kRequestsFile);
    same("preemptions", row.preemptions, seen.preemptions, kRequestsFile);
    same("device_read_bytes", row.device_read_bytes, seen.read_bytes, kTrafficFile);
    same("device_written_bytes", row.device_written_bytes, seen.written_bytes, kTrafficFile);
  }

  void check_request(std::size_t index) {
    const RequestRow& row = log_.requests[index];
    if (!row.has_first_token()) return;
    const std::int64_t parts =
        row.queue_ns + row.lookup_ns + row.read_ns + row.recompute_ns + row.other_ns;
    if (parts != row.ttft_ns()) {
      note(kRequestsFile, index,
           fmt::format("the five parts of TTFT sum to {}, `first_token_ns` - `intended_ns` is {}",
                       parts, row.ttft_ns()));
    }
    if (row.send_ns < row.intended_ns || row.admitted_ns < row.send_ns ||
        row.first_token_ns < row.admitted_ns || row.end_ns < row.first_token_ns) {
      note(kRequestsFile, index, "its instants are not in their order");
    }
  }

  // A row's line: the header is line 1.
  void note(std::string_view file, std::size_t index, std::string_view what) {
    if (lines_.size() == kDisagreementsMax) return;
    lines_.push_back(fmt::format("{}:{}: {}", file, index + 2, what));
  }

  const RunLog& log_;
  std::map<Key, Seen> seen_;
  std::map<Key, std::size_t> cells_;
  std::vector<std::string> lines_;
};

}  // namespace

std::vector<std::string> cross_check(const RunLog& log) {
  std::vector<std::string> lines = Checker(log).run();
  for (std::string& line : check_late(log)) {
    if (lines.size() < kDisagreementsMax) lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace forebay::report
