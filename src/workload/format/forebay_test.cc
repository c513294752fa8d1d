#include <gtest/gtest.h>

#include "workload/trace_testing.h"
#include "workload/writer.h"

namespace forebay::workload {
namespace {

constexpr std::string_view kHeader = "{\"forebay_trace\":1,\"block_tokens\":16}\n";

TEST(ForebayFormat, EveryFieldFindsItsPlace) {
  const auto read = read_text(
      std::string(kHeader) +
      R"({"arrival_ns":0,"input_tokens":16,"output_tokens":1,"block_ids":[1]})"
      "\n"
      R"({"arrival_ns":5,"input_tokens":40,"output_tokens":2,"session":9,"turn":3,"parent":0,)"
      R"("think_ns":6,"api_ns":7,"model":"m","repeat_blocks":1,"block_ids":[2,3]})"
      "\n");
  EXPECT_TRUE(read.diagnostics.empty()) << read.diagnostics.text();
  EXPECT_EQ(read.trace.format, "forebay");
  ASSERT_EQ(read.trace.requests.size(), 2U);
  const Request& request = read.trace.requests[1];
  EXPECT_EQ(request.arrival_ns, 5);
  EXPECT_EQ(request.input_tokens, 40U);
  EXPECT_EQ(request.output_tokens, 2U);
  EXPECT_EQ(request.session, 9U);
  EXPECT_EQ(request.turn, 3U);
  EXPECT_EQ(request.parent, 0);
  EXPECT_EQ(request.think_ns, 6);
  EXPECT_EQ(request.api_ns, 7);
  EXPECT_EQ(request.model, "m");
  EXPECT_EQ(request.block_tokens, 16U);
  EXPECT_EQ(request.block_ids, (std::vector<std::uint64_t>{1, 2, 3}));
}

// 2^53 ns are 104 days: a double between text and time would lose single nanoseconds beyond.
TEST(ForebayFormat, KeepsEachNanosecondOfALongTrace) {
  const auto read =
      read_text(std::string(kHeader) +
                R"({"arrival_ns":31622399999999901,"input_tokens":1,"output_tokens":1})"
                "\n");
  ASSERT_EQ(read.trace.requests.size(), 1U) << read.diagnostics.text();
  EXPECT_EQ(read.trace.requests[0].arrival_ns, 31'622'399'999'999'901);
}

// Lines 3 (malformed) and 4 (blank) count as requests 1 and 2 in the file, but are none.
TEST(ForebayFormat, ParentsFollowWhenLinesAreSkipped) {
  const std::string plain = R"({"arrival_ns":1,"input_tokens":1,"output_tokens":1)";
  const auto read = read_text(std::string(kHeader) + plain + "}\n" + "{broken\n" + "\n" + plain +
                              "}\n" + plain + ",\"parent\":3}\n" + plain + ",\"parent\":1}\n");
  EXPECT_EQ(read.diagnostics.count(), 1U) << read.diagnostics.text();
  ASSERT_EQ(read.trace.requests.size(), 4U);
  EXPECT_EQ(read.trace.requests[2].parent, 1);
  EXPECT_EQ(read.trace.requests[3].parent, -1);
  EXPECT_NE(joined_notes(read.trace).find("1 requests lost their parent"), std::string::npos);
}

TEST(ForebayFormat, ARepeatOfASkippedLineIsNotGuessed) {
  const auto read =
      read_text(std::string(kHeader) +
                R"({"arrival_ns":0,"input_tokens":16,"output_tokens":1,"block_ids":[1]})"
                "\n{broken\n"
                R"({"arrival_ns":0,"input_tokens":16,"output_tokens":1,"repeat_blocks":1})"
                "\n");
  EXPECT_EQ(read.trace.requests.size(), 1U);
  ASSERT_EQ(read.diagnostics.count(), 2U);
  EXPECT_EQ(read.diagnostics.kept()[1].hint, "was the line above skipped?");
}

TEST(ForebayFormat, AMisspeltKeyIsNamedWithTheRightOne) {
  const auto read =
      read_text(std::string(kHeader) +
                R"({"arrival_ns":0,"input_tokens":16,"output_tokens":1,"thinc_ns":1})");
  EXPECT_NE(
      joined_notes(read.trace).find("unknown key `thinc_ns` is ignored; did you mean `think_ns`"),
      std::string::npos);
}

TEST(ForebayFormat, AnotherVersionIsRefused) {
  Diagnostics diagnostics;
  const auto reader = open_trace_bytes("{\"forebay_trace\":2}\n", {}, diagnostics);
  ASSERT_FALSE(reader.has_value());
  EXPECT_EQ(reader.error().code, Errc::kVersion);
  EXPECT_NE(diagnostics.text().find("trace:1: version 2"), std::string::npos);
}

TEST(ForebayFormat, MistakesAreNamed) {
  const std::string head = R"({"arrival_ns":0,"input_tokens":16,"output_tokens":1)";
  const auto read =
      read_text(std::string(kHeader) + head + ",\"block_ids\":[1,2,3]}\n" + head +
                ",\"parent\":7}\n" + head + ",\"block_tokens\":1,\"block_ids\":[1]}\n" + head +
                ",\"turn\":-1}\n" + head + ",\"repeat_blocks\":1}\n");
  EXPECT_EQ(read.diagnostics.count(), 5U) << read.diagnostics.text();
  EXPECT_EQ(read.trace.requests.size(), 0U);
}

}  // namespace
}  // namespace forebay::workload
