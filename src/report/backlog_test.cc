#include "report/backlog.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "report/format.h"
#include "report/summary.h"
#include "report/test_log.h"

namespace forebay::report {
namespace {

// One round of 30 requests a second apart; request i waits `wait_ms(i)` and computes for 100 ms.
template <class Wait>
TestLog queueing(Wait wait_ms, std::int64_t count = 30) {
  TestLog test;
  test.cell(0, 0);
  for (std::int64_t i = 0; i < count; ++i) {
    RequestRow& row = test.request(0, 0, 1000 * i, wait_ms(i) + 100);
    row.queue_ns = wait_ms(i) * kMs;
  }
  return test;
}

Backlog backlog_of(const TestLog& test) { return summarise(test.log).arms[0].backlog; }

TEST(Backlog, IsTheMeanOfTheFirstAndTheLastThird) {
  const Backlog backlog = backlog_of(queueing([](std::int64_t i) { return 100 * i; }));
  EXPECT_DOUBLE_EQ(backlog.first_ns, 450 * kMs);  // of 0, 100, ..., 900
  EXPECT_DOUBLE_EQ(backlog.last_ns, 2450 * kMs);  // of 2000, ..., 2900
  EXPECT_DOUBLE_EQ(backlog.last_ttft_ns, 2550 * kMs);
  EXPECT_TRUE(backlog.grew());
}

TEST(Backlog, ASteadyOrShortQueueDidNotGrow) {
  EXPECT_FALSE(backlog_of(queueing([](std::int64_t) { return 500; })).grew());
  EXPECT_FALSE(backlog_of(queueing([](std::int64_t i) { return i; })).grew());  // computing rules
  EXPECT_FALSE(backlog_of(queueing([](std::int64_t i) { return 100 * i; }, 29)).grew());
}

TEST(Backlog, ItsArmIsNamedBelowTheTable) {
  const TestLog test = queueing([](std::int64_t i) { return 100 * i; });
  const auto notes = footnotes(test.log.facts, summarise(test.log));
  const auto about = [](const std::string& note) {
    return note.starts_with("recompute: more arrives than it serves");
  };
  ASSERT_EQ(std::ranges::count_if(notes, about), 1);
  const std::string note = *std::ranges::find_if(notes, about);
  EXPECT_NE(note.find("450 ms"), std::string::npos) << note;
  EXPECT_NE(note.find("2.45 s"), std::string::npos) << note;
}

}  // namespace
}  // namespace forebay::report
