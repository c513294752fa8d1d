#include "report/cross_check.h"

#include <gtest/gtest.h>

#include "report/test_log.h"

namespace forebay::report {
namespace {

// One cell of two requests, from 0 to 240 ms, and 30 bytes read.
TestLog consistent() {
  TestLog test;
  CellRow& cell = test.cell(0, 0);
  cell.requests = 2;
  cell.span_ns = 240 * kMs;
  cell.device_read_bytes = 30;
  test.request(0, 0, 0, 10);
  test.request(0, 0, 200, 30);
  for (RequestRow& row : test.log.requests) row.admitted_ns = row.send_ns;
  test.log.traffic.push_back({.tier = 2, .slice_ns = 1, .read_bytes = 10});
  test.log.traffic.push_back({.tier = 2, .slice_start_ns = 1, .slice_ns = 1, .read_bytes = 20});
  return test;
}

TEST(CrossCheck, ALogThatAgreesWithItselfIsPassed) {
  EXPECT_EQ(cross_check(consistent().log), std::vector<std::string>{});
}

TEST(CrossCheck, EachFigureOfACellThatAnotherLogHoldsIsCompared) {
  using Field = std::int64_t CellRow::*;
  const std::pair<Field, const char*> fields[] = {
      {&CellRow::requests, "requests"},
      {&CellRow::span_ns, "span_ns"},
      {&CellRow::wrong_blocks, "wrong_blocks"},
      {&CellRow::preemptions, "preemptions"},
      {&CellRow::device_read_bytes, "device_read_bytes"},
      {&CellRow::device_written_bytes, "device_written_bytes"},
  };
  for (const auto& [field, name] : fields) {
    TestLog test = consistent();
    test.log.cells[0].*field += 1;
    const auto lines = cross_check(test.log);
    ASSERT_EQ(lines.size(), 1U) << name;
    EXPECT_TRUE(lines[0].starts_with("cells.csv:2: column `" + std::string(name) + "` says"))
        << lines[0];
  }
}

TEST(CrossCheck, ARequestMustAddUpAndRunForwards) {
  TestLog test = consistent();
  test.log.requests[1].queue_ns += 1;
  auto lines = cross_check(test.log);
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_TRUE(lines[0].starts_with("requests.csv:3: the five parts of TTFT")) << lines[0];
  test = consistent();
  test.log.requests[0].admitted_ns = test.log.requests[0].first_token_ns + 1;
  EXPECT_EQ(cross_check(test.log),
            std::vector<std::string>{"requests.csv:2: its instants are not in their order"});
}

TEST(CrossCheck, ACellThatTheRunCannotHaveIsNamed) {
  TestLog test = consistent();
  test.log.cells.push_back(test.log.cells[0]);
  EXPECT_EQ(
      cross_check(test.log),
      std::vector<std::string>{"cells.csv:3: is a second row of the same arm, round and variant"});
  test = consistent();
  test.log.facts.rounds_wanted = 0;
  test.log.cells[0].round = 1;
  for (RequestRow& row : test.log.requests) row.round = 1;
  for (TrafficRow& row : test.log.traffic) row.round = 1;
  EXPECT_EQ(cross_check(test.log),
            std::vector<std::string>{"cells.csv:2: column `round` says 1, run.json has 0 rounds"});
}

}  // namespace
}  // namespace forebay::report
