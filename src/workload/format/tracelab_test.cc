#include <gtest/gtest.h>

#include <algorithm>

#include "workload/trace_testing.h"

namespace forebay::workload {
namespace {

constexpr std::string_view kHeader =
    "session_id,arrival_time,round_idx,prefix_len,input_len,output_len,tool_wait_after_ms\n";

std::size_t shared_blocks(const Request& a, const Request& b) {
  return static_cast<std::size_t>(std::ranges::mismatch(a.block_ids, b.block_ids).in1 -
                                  a.block_ids.begin());
}

TEST(TraceLabCsv, RoundsWaitForTheToolAfterTheRoundBefore) {
  const auto read = read_text(std::string(kHeader) +
                              "0,117,0,0,2318,200,300\n"
                              "0,117,1,2518,348,131,154\n"
                              "1,120,0,0,100,1,0\n");
  EXPECT_TRUE(read.diagnostics.empty()) << read.diagnostics.text();
  EXPECT_EQ(read.trace.format, "tracelab-csv");
  ASSERT_EQ(read.trace.requests.size(), 3U);
  const Request& second = read.trace.requests[2];  // sorted by arrival: 117, 120, 417 ms
  EXPECT_EQ(second.arrival_ns, 417'000'000);
  EXPECT_EQ(second.think_ns, 300'000'000);
  EXPECT_EQ(second.parent, 0);
  EXPECT_EQ(second.turn, 1U);
  EXPECT_EQ(second.input_tokens, 2866U);
  EXPECT_EQ(read.trace.requests[1].parent, -1);
}

// 2318 tokens hold 36 whole blocks of 64; a round that keeps 1000 tokens keeps 15 of them, and the
// one after cannot get the dropped ones back.
TEST(TraceLabCsv, WholeBlocksInsideThePrefixKeepTheirIds) {
  const auto read = read_text(std::string(kHeader) +
                              "0,0,0,0,2318,200,1000\n"
                              "0,0,1,2518,348,131,1000\n"
                              "0,0,2,1000,500,1,1000\n"
                              "0,0,3,1500,100,1,1000\n"
                              "1,0,0,0,2318,200,1000\n");
  ASSERT_EQ(read.trace.requests.size(), 5U);
  std::array<const Request*, 4> rounds{};
  const Request* stranger = nullptr;
  for (const Request& request : read.trace.requests) {
    if (request.line == 6) stranger = &request;
    if (request.line < 6) rounds[request.turn] = &request;
  }
  EXPECT_EQ(rounds[1]->block_ids.size(), 45U);  // 2866 tokens
  EXPECT_EQ(shared_blocks(*rounds[0], *rounds[1]), 36U);
  EXPECT_EQ(shared_blocks(*rounds[1], *rounds[2]), 15U);
  EXPECT_EQ(shared_blocks(*rounds[2], *rounds[3]), 23U);
  EXPECT_EQ(shared_blocks(*rounds[1], *rounds[3]), 15U);
  EXPECT_EQ(shared_blocks(*rounds[0], *stranger), 0U);
}

TEST(TraceLabCsv, SessionsWithoutAStartBeginAfterSeededGaps) {
  const std::string text =
      "session_id,round_idx,prefix_len,input_len,output_len,tool_wait_after_ms\n"
      "0,0,0,10,1,5\n0,1,10,10,1,5\n1,0,0,10,1,5\n2,0,0,10,1,5\n";
  const auto read = read_text(text);
  ASSERT_EQ(read.trace.requests.size(), 4U);
  EXPECT_EQ(read.trace.requests[0].arrival_ns, 0);
  EXPECT_GT(read.trace.requests[2].arrival_ns, 5'000'000);
  EXPECT_NE(joined_notes(read.trace).find("3 of them begin after exponential gaps of mean 30 s"),
            std::string::npos);
}

TEST(TraceLabCsv, RoundsOutOfOrderAreNamed) {
  const auto read = read_text(std::string(kHeader) + "0,0,1,0,1,1,1\n0,0,1,0,1,1,1\n");
  EXPECT_NE(only_mistake(read).find("round 1 follows round 1"), std::string::npos);
}

std::string round(int index, int prefix, int added, std::string_view events) {
  return fmt::format(R"({{"session_id":"s","round_index":{},"model":"m","prefix_tokens":{},)"
                     R"("newly_append_tokens":{},"output_tokens":5,"timing_events":[{}]}})"
                     "\n",
                     index, prefix, added, events);
}

std::string event(std::string_view type, std::string_view second) {
  return fmt::format(R"({{"event_type":"{}","timestamp":"2026-06-01T05:40:{}Z"}})", type, second);
}

TEST(TraceLabJsonl, TimesAreThoseOfTheEvents) {
  const auto read =
      read_text(round(0, 0, 100, event("user_message", "10.000") + "," + event("text", "14.500")) +
                round(1, 100, 50,
                      event("tool_result", "15.000") + "," + event("tool_result", "20.000") + "," +
                          event("usage_report", "21.000")));
  EXPECT_TRUE(read.diagnostics.empty()) << read.diagnostics.text();
  EXPECT_EQ(read.trace.format, "tracelab-jsonl");
  ASSERT_EQ(read.trace.requests.size(), 2U);
  EXPECT_EQ(read.trace.requests[0].api_ns, 4'500'000'000);
  const Request& second = read.trace.requests[1];
  EXPECT_EQ(second.arrival_ns, 10'000'000'000);  // its last input, 10 s after the first round's
  EXPECT_EQ(second.think_ns, 5'500'000'000);
  EXPECT_EQ(second.api_ns, 1'000'000'000);
  EXPECT_EQ(second.input_tokens, 150U);
  EXPECT_EQ(second.model, "m");
  EXPECT_EQ(shared_blocks(read.trace.requests[0], second), 1U);
}

TEST(TraceLabJsonl, ARoundWithoutTimesIsNamed) {
  EXPECT_NE(only_mistake(read_text(round(0, 0, 1, ""))).find("`timing_events`"), std::string::npos);
  EXPECT_NE(only_mistake(read_text(round(0, 0, 1, event("text", "xx")))).find("`timing_events`"),
            std::string::npos);
}

}  // namespace
}  // namespace forebay::workload
