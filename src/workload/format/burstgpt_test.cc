#include <gtest/gtest.h>

#include "workload/trace_testing.h"

namespace forebay::workload {
namespace {

TEST(BurstGpt, SecondsAreSpreadAndFailuresLeftOut) {
  const auto read = read_text(
      "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n"
      "5,ChatGPT,472,18,490,Conversation log\n"
      "45,GPT-4,1087,230,1317,API log\n"
      "118,ChatGPT,417,0,417,Conversation log\n");
  EXPECT_TRUE(read.diagnostics.empty()) << read.diagnostics.text();
  EXPECT_EQ(read.trace.format, "burstgpt");
  ASSERT_EQ(read.trace.requests.size(), 2U);
  EXPECT_EQ(read.trace.requests[1].arrival_ns / 1'000'000'000, 45);
  EXPECT_EQ(read.trace.requests[1].model, "GPT-4");
  EXPECT_EQ(read.trace.requests[1].input_tokens, 1087U);
  EXPECT_EQ(read.trace.requests[1].output_tokens, 230U);
  EXPECT_NE(joined_notes(read.trace).find("1 failed requests"), std::string::npos);
  EXPECT_NE(joined_notes(read.trace).find("rounded to 1000 ms"), std::string::npos);
}

TEST(BurstGpt, SessionsAreFollowedWhereTheColumnIsThere) {
  ReadOptions options;
  options.spread_stamps = false;
  const auto read = read_text(
      "Timestamp,Session ID,Elapsed time,Model,Request tokens,Response tokens,Total tokens,Log "
      "Type\n"
      "5,a,1.5,GPT-4,4,1,5,API log\n"
      "6,b,1,GPT-4,4,1,5,API log\n"
      "9,a,1,GPT-4,8,1,9,API log\n",
      options);
  ASSERT_EQ(read.trace.requests.size(), 3U);
  EXPECT_EQ(read.trace.requests[0].api_ns, 1'500'000'000);
  EXPECT_EQ(read.trace.requests[2].session, read.trace.requests[0].session);
  EXPECT_NE(read.trace.requests[1].session, read.trace.requests[0].session);
  EXPECT_EQ(read.trace.requests[2].parent, 0);
  EXPECT_EQ(read.trace.requests[2].turn, 1U);
}

TEST(BurstGpt, FalseRowsAreNamed) {
  const auto read = read_text(
      "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n"
      "nan,ChatGPT,472,18,490,Conversation log\n");
  EXPECT_NE(only_mistake(read).find("trace:2: `nan` in Timestamp"), std::string::npos);
}

}  // namespace
}  // namespace forebay::workload
