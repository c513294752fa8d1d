#include "report/late.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "report/cross_check.h"
#include "report/format.h"
#include "report/summary.h"
#include "report/test_log.h"

namespace forebay::report {
namespace {

// One attempt of the arm forebay in round 1 whose two requests were sent 20 ms late, and the cell
// that counts.
class LateLog : public TestLog {
 public:
  LateLog() {
    log.facts.rounds_wanted = 2;
    for (const std::int64_t at_ms : {0, 100}) {
      request(1, 1, at_ms, 50);
      RequestRow& late = log.late_requests.emplace_back(log.requests.back());
      late.attempt = 1;
      late.send_ns += 20 * kMs;
      late.first_token_ns += 400 * kMs;
      late.end_ns += 400 * kMs;
    }
    cell(1, 1).requests = 2;
    log.late_cells.push_back(log.cells.back());
    log.late_cells.back().attempt = 1;
  }
};

TEST(Late, AnAttemptIsToldAndInNoFigure) {
  const LateLog test;
  const Summary summary = summarise(test.log);
  EXPECT_TRUE(summary.valid);
  EXPECT_EQ(summary.arms[1].request_count, 2U);
  EXPECT_EQ(summary.arms[1].ttft_ns.mean, 50.0 * kMs);
  ASSERT_EQ(summary.late.size(), 1U);
  EXPECT_EQ(summary.late[0].arm, "forebay");
  EXPECT_EQ(summary.late[0].pace.lag_ns_p99, 20.0 * kMs);
  const auto notes = footnotes(test.log.facts, summary);
  const auto told = std::ranges::find_if(notes, [](const std::string& note) {
    return note.find("forebay round 2 (1 attempt,") != std::string::npos;
  });
  EXPECT_NE(told, notes.end());
  EXPECT_EQ(check_late(test.log), std::vector<std::string>{});
}

TEST(Late, OnlyLatenessIsAReason) {
  LateLog test;
  for (RequestRow& row : test.log.late_requests) row.send_ns = row.intended_ns;
  EXPECT_EQ(check_late(test.log),
            std::vector<std::string>{"late-cells.csv:2: was done again though it was not late (lag "
                                     "p99 0.0 ms, steps late by 0.0 % of the time)"});
  test.log.late_cells[0].step_lag_ns_total = 100 * kMs;  // a tenth of its span
  EXPECT_EQ(check_late(test.log), std::vector<std::string>{});
  test.log.late_cells[0].wrong_blocks = 1;
  EXPECT_EQ(check_late(test.log),
            std::vector<std::string>{
                "late-cells.csv:2: was done again though it held wrong bytes or did not end"});
}

TEST(Late, MissingAndDoubledRowsAreNamed) {
  LateLog test;
  test.log.late_requests.pop_back();
  test.log.late_cells.push_back(test.log.late_cells[0]);
  test.log.late_cells.push_back(test.log.late_cells[0]);
  test.log.late_cells.back().attempt = 3;
  const auto lines = cross_check(test.log);
  const auto said = [&](std::string_view line) { return std::ranges::count(lines, line); };
  EXPECT_EQ(said("late-cells.csv:2: column `requests` says 2, late-requests.csv gives 1"), 1);
  EXPECT_EQ(said("late-cells.csv:3: is a second row of the same attempt"), 1);
  EXPECT_EQ(said("late-cells.csv:4: is attempt 3; the one before is not there"), 1);
}

TEST(Late, AnAttemptWithAFaultCountsHoweverLate) {
  RequestRow row;
  CellRow cell;
  EXPECT_FALSE(has_fault(cell, std::span(&row, 1)));
  row.state = static_cast<int>(RequestState::kFailed);
  EXPECT_TRUE(has_fault(cell, std::span(&row, 1)));
  cell.wrong_blocks = 1;
  EXPECT_TRUE(has_fault(cell, {}));
}

}  // namespace
}  // namespace forebay::report
