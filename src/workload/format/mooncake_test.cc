#include <gtest/gtest.h>

#include "workload/trace_testing.h"

namespace forebay::workload {
namespace {

constexpr std::string_view kGood = R"({"timestamp": 27, "input_length": 600, "output_length": 9,)"
                                   R"( "hash_ids": [4, 18446744073709551615]})"
                                   "\n";

TEST(Mooncake, EachFieldFindsItsPlace) {
  const auto read = read_text(std::string(kGood));
  EXPECT_TRUE(read.diagnostics.empty()) << read.diagnostics.text();
  ASSERT_EQ(read.trace.requests.size(), 1U);
  const Request& request = read.trace.requests[0];
  EXPECT_EQ(read.trace.format, "mooncake");
  EXPECT_EQ(request.arrival_ns, 27'000'000);
  EXPECT_EQ(request.input_tokens, 600U);
  EXPECT_EQ(request.output_tokens, 9U);
  EXPECT_EQ(request.block_tokens, 512U);
  EXPECT_EQ(request.block_ids, (std::vector<std::uint64_t>{4, ~std::uint64_t{0}}));
  EXPECT_EQ(request.line, 1U);
}

TEST(Mooncake, IdsThatDoNotFitTheLengthAreAMistakeWithPlaceAndHint) {
  const auto read =
      read_text(std::string(kGood) +
                R"({"timestamp": 30, "input_length": 513, "output_length": 9, "hash_ids": [1]})");
  const std::string mistake = only_mistake(read);
  EXPECT_NE(mistake.find("trace:2: 1 hash_ids for 513 input tokens"), std::string::npos) << mistake;
  EXPECT_NE(mistake.find("--block-tokens"), std::string::npos);
  EXPECT_NE(joined_notes(read.trace).find("1 of 2 entries were malformed"), std::string::npos);
}

TEST(Mooncake, OtherBlockSizesReadWhenTold) {
  ReadOptions options;
  options.block_tokens = 16;
  const auto read = read_text(
      R"({"timestamp": 1, "input_length": 33, "output_length": 1, "hash_ids": [1, 2, 3]})",
      options);
  EXPECT_TRUE(read.diagnostics.empty()) << read.diagnostics.text();
  EXPECT_EQ(read.trace.requests.at(0).block_tokens, 16U);
}

TEST(Mooncake, TracesWithoutIdsHaveNoBlocks) {
  const auto read = read_text(R"({"timestamp": 1.5, "input_length": 33, "output_length": 1})");
  ASSERT_EQ(read.trace.requests.size(), 1U);
  EXPECT_EQ(read.trace.requests[0].block_tokens, 0U);
  EXPECT_EQ(read.trace.requests[0].arrival_ns, 1'500'000);
}

TEST(Mooncake, NumbersThatNoRequestHasAreSkippedOneByOne) {
  const std::string text =
      R"({"timestamp": -1, "input_length": 1, "output_length": 1, "hash_ids": [1]}
{"timestamp": 1e300, "input_length": 1, "output_length": 1, "hash_ids": [1]}
{"timestamp": 1, "input_length": 1.5, "output_length": 1, "hash_ids": [1]}
{"timestamp": 1, "input_length": 99999999999, "output_length": 1, "hash_ids": [1]}
{"timestamp": 1, "input_length": 1, "output_length": -1, "hash_ids": [1]}
{"timestamp": 1, "input_length": 1, "output_length": 1, "hash_ids": ["x"]}
{"timestamp": 1, "input_length": 1, "output_length": 1, "hash_ids": {"a": 1}}
{"timestamp": "1", "input_length": 1, "output_length": 1, "hash_ids": [1]}
{"timestamp": 1, "output_length": 1, "hash_ids": [1]}
[1, 2]
{"timestamp": 1, "input_length"
{"timestamp": 2, "input_length": 1, "output_length": 1, "hash_ids": [1]}
)";
  const auto read = read_text(text);
  EXPECT_EQ(read.trace.requests.size(), 1U);
  EXPECT_EQ(read.trace.skipped_count, 11U);
  EXPECT_EQ(read.diagnostics.count(), 11U);
  EXPECT_EQ(read.diagnostics.kept()[8].message, "`input_length` is missing");
  EXPECT_EQ(read.diagnostics.kept()[8].place, "trace:9");
}

}  // namespace
}  // namespace forebay::workload
