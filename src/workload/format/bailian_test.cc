#include <gtest/gtest.h>

#include "workload/trace_testing.h"

namespace forebay::workload {
namespace {

std::string chat(int id, int parent, double time_s, std::string_view ids, int tokens) {
  return fmt::format(
      R"({{"chat_id": {}, "parent_chat_id": {}, "timestamp": {}, "input_length": {},)"
      R"( "output_length": 3, "type": "text", "turn": {}, "hash_ids": [{}]}})"
      "\n",
      id, parent, time_s, tokens, parent < 0 ? 1 : 2, ids);
}

TEST(Bailian, TurnsFollowTheirParentChat) {
  const auto read = read_text(chat(7, -1, 0.5, "1,2", 32) + chat(9, -1, 1, "5", 16) +
                              chat(8, 7, 61.114, "1,2,3", 40) + chat(3, 8, 70, "1,2", 32));
  EXPECT_TRUE(read.diagnostics.empty()) << read.diagnostics.text();
  EXPECT_EQ(read.trace.format, "bailian");
  ASSERT_EQ(read.trace.requests.size(), 4U);
  const Request& turn = read.trace.requests[2];
  EXPECT_EQ(turn.arrival_ns, 61'114'000'000);
  EXPECT_EQ(turn.parent, 0);
  EXPECT_EQ(turn.turn, 1U);
  EXPECT_EQ(turn.session, read.trace.requests[0].session);
  EXPECT_NE(turn.session, read.trace.requests[1].session);
  EXPECT_EQ(read.trace.requests[3].session, turn.session);
  EXPECT_EQ(turn.block_tokens, 16U);
}

// The trace hashes each block alone: block 9 behind 1 and behind 2 is not the same KV.
TEST(Bailian, EqualIdsMeanEqualPrefixes) {
  const auto read = read_text(chat(1, -1, 0, "1,9", 32) + chat(2, -1, 1, "2,9", 32) +
                              chat(3, -1, 2, "1,9,4", 48));
  ASSERT_EQ(read.trace.requests.size(), 3U);
  const auto& first = read.trace.requests[0].block_ids;
  const auto& second = read.trace.requests[1].block_ids;
  const auto& third = read.trace.requests[2].block_ids;
  EXPECT_NE(first[1], second[1]);
  EXPECT_EQ(first[0], third[0]);
  EXPECT_EQ(first[1], third[1]);
}

TEST(Bailian, AParentThatIsNotThereIsCounted) {
  const auto read = read_text(chat(7, 1234, 0, "1", 16));
  ASSERT_EQ(read.trace.requests.size(), 1U);
  EXPECT_EQ(read.trace.requests[0].parent, -1);
  EXPECT_NE(joined_notes(read.trace).find("1 requests name a parent"), std::string::npos);
}

TEST(Bailian, IdsThatDoNotFitTheLengthAreAMistake) {
  EXPECT_NE(only_mistake(read_text(chat(7, -1, 0, "1", 40))).find("1 hash_ids for 40 input tokens"),
            std::string::npos);
}

}  // namespace
}  // namespace forebay::workload
