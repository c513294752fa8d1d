#include "report/backlog.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "report/format.h"
#include "report/summary.h"
#include "report/test_log.h"

namespace forebay::report {
namespace {

// Adds a round of `count` requests a second apart; request i waits `wait_ms(i)` and computes for
// 100 ms.
template <class Wait>
void add_round(TestLog& test, std::int64_t round, Wait wait_ms, std::int64_t count = 30) {
  test.cell(0, round);
  for (std::int64_t i = 0; i < count; ++i) {
    RequestRow& row = test.request(0, round, 1000 * i, wait_ms(i) + 100);
    row.queue_ns = wait_ms(i) * kMs;
  }
}

template <class Wait>
TestLog queueing(Wait wait_ms, std::int64_t count = 30) {
  TestLog test;
  add_round(test, 0, wait_ms, count);
  return test;
}

Backlog backlog_of(const TestLog& test) { return summarise(test.log).arms[0].backlog; }

TEST(Backlog, IsTheMeanOfTheFirstAndTheLastThird) {
  const Backlog backlog = backlog_of(queueing([](std::int64_t i) { return 100 * i; }));
  EXPECT_DOUBLE_EQ(backlog.first_ns, 450 * kMs);  // of 0, 100, ..., 900
  EXPECT_DOUBLE_EQ(backlog.last_ns, 2450 * kMs);  // of 2000, ..., 2900
  EXPECT_DOUBLE_EQ(backlog.last_ttft_ns, 2550 * kMs);
  EXPECT_EQ(backlog.taus, std::vector<double>{1});
  EXPECT_TRUE(backlog.grew());
}

TEST(Backlog, ASteadyOrShortQueueDidNotGrow) {
  EXPECT_FALSE(backlog_of(queueing([](std::int64_t) { return 500; })).grew());
  EXPECT_FALSE(backlog_of(queueing([](std::int64_t i) { return i; })).grew());  // computing rules
  EXPECT_FALSE(backlog_of(queueing([](std::int64_t i) { return 100 * i; }, 29)).grew());
  // 13 times as long in the last third, but as likely to fall as to rise from one to the next.
  EXPECT_FALSE(backlog_of(queueing([](std::int64_t i) { return i == 25 ? 9000 : 70; })).grew());
}

// Every request is followed by a turn of its session that waits for no time at all.
TEST(Backlog, LaterTurnsOfASessionDoNotHideIt) {
  TestLog test = queueing([](std::int64_t i) { return 100 * i; });
  for (std::int64_t i = 0; i < 30; ++i) {
    test.log.requests[static_cast<std::size_t>(i)].session = i + 1;
    test.request(0, 0, 1000 * i + 500, 100).session = i + 1;
  }
  const Backlog backlog = backlog_of(test);
  EXPECT_DOUBLE_EQ(backlog.first_ns, 450 * kMs);
  EXPECT_TRUE(backlog.sessions);
  EXPECT_TRUE(backlog.grew());
  // What is no session's first request after the warm-up is not put in the first one's place.
  for (RequestRow& row : test.log.requests) row.warm_up = row.session <= 10 && row.queue_ns > 0;
  EXPECT_TRUE(backlog_of(test).taus.empty());
}

// Half of all pairs rise and a quarter of them fall: sure over several rounds, not over one.
TEST(Backlog, RoundsThatRepeatTheSameRequestsAreOneSample) {
  const auto wait_ms = [](std::int64_t i) { return 100 * (i - i % 2 * 9 + 9); };
  TestLog test;
  for (std::int64_t round = 0; round < 4; ++round) add_round(test, round, wait_ms);
  const Backlog backlog = backlog_of(test);
  ASSERT_EQ(backlog.taus.size(), 4U);
  EXPECT_GT(backlog.taus[0], 0.5);
  EXPECT_LT(backlog.taus[0], 0.8);
  EXPECT_TRUE(backlog.grew());
  test.log.facts.workload_varies = false;
  EXPECT_FALSE(backlog_of(test).grew());
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
  EXPECT_NE(note.find("1 false alarm in 100"), std::string::npos) << note;
}

}  // namespace
}  // namespace forebay::report
