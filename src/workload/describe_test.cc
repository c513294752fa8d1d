#include "workload/describe.h"

#include <gtest/gtest.h>

#include "workload/trace_testing.h"

namespace forebay::workload {
namespace {

Request request_at(std::int64_t arrival_s, std::uint32_t input_tokens,
                   std::vector<std::uint64_t> ids = {}) {
  Request request;
  request.arrival_ns = arrival_s * 1'000'000'000;
  request.input_tokens = input_tokens;
  request.output_tokens = 10;
  request.block_tokens = ids.empty() ? 0 : 16;
  request.block_ids = std::move(ids);
  return request;
}

// Worked by hand: 5 + 3 + 3 blocks asked for, the third request finds 2 of them, the second 1.
TEST(Describe, CountsTheLeadingRunOnlyAsAHit) {
  Describer describer;
  describer.add(request_at(0, 80, {1, 2, 3, 4, 5}));
  describer.add(request_at(1, 40, {1, 9, 3}));  // 3 was seen, but stands behind a miss
  describer.add(request_at(3, 48, {1, 2, 10}));
  const Description result = describer.finish(100);
  EXPECT_EQ(result.accessed_blocks, 11U);
  EXPECT_EQ(result.hit_blocks, 3U);
  EXPECT_EQ(result.unique_blocks, 7U);
  EXPECT_DOUBLE_EQ(result.infinite_hit_ratio, 3.0 / 11);
  EXPECT_DOUBLE_EQ(result.reused_request_ratio, 2.0 / 3);
  EXPECT_DOUBLE_EQ(result.reused_token_ratio, 48.0 / 168);
  EXPECT_EQ(result.working_set_tokens, 80U + 16U + 16U);
  EXPECT_EQ(result.working_set_bytes, 11'200U);
}

TEST(Describe, APartialLastBlockCountsItsTokensOnly) {
  Describer describer;
  describer.add(request_at(0, 20, {1, 2}));
  EXPECT_EQ(describer.finish(0).working_set_tokens, 20U);
}

TEST(Describe, EvenGapsHaveNoBurstiness) {
  Describer describer;
  for (int i = 0; i < 101; ++i) describer.add(request_at(i, 1));
  const Description result = describer.finish(0);
  EXPECT_DOUBLE_EQ(result.gap_cv, 0);
  EXPECT_EQ(result.span_ns, 100'000'000'000);
  EXPECT_DOUBLE_EQ(result.requests_per_s, 1.01);
  EXPECT_NEAR(result.peak_10s_over_mean, 1, 0.01);
  EXPECT_EQ(result.distinct_arrival_count, 101U);
}

TEST(Describe, PercentilesAreNearestRank) {
  Describer describer;
  for (std::uint32_t tokens = 1; tokens <= 200; ++tokens) describer.add(request_at(0, tokens));
  const LengthSummary lengths = describer.finish(0).input_tokens;
  EXPECT_EQ(lengths.p50, 100U);
  EXPECT_EQ(lengths.p90, 180U);
  EXPECT_EQ(lengths.p99, 198U);
  EXPECT_EQ(lengths.max, 200U);
  EXPECT_DOUBLE_EQ(lengths.mean, 100.5);
}

TEST(Describe, OrderOfTheFileDoesNotMatterForArrivals) {
  Describer forward;
  Describer backward;
  for (const int second : {0, 1, 5, 6, 30}) forward.add(request_at(second, 1));
  for (const int second : {30, 6, 5, 1, 0}) backward.add(request_at(second, 1));
  EXPECT_DOUBLE_EQ(forward.finish(0).gap_cv, backward.finish(0).gap_cv);
}

TEST(Describe, NothingAndOneRequestDivideByNothing) {
  Describer none;
  EXPECT_EQ(none.finish(1).requests_per_s, 0);
  Describer one;
  one.add(request_at(7, 3));
  const Description result = one.finish(1);
  EXPECT_EQ(result.span_ns, 0);
  EXPECT_EQ(result.gap_cv, 0);
  EXPECT_EQ(result.input_tokens.p99, 3U);
}

// The figures that others give for the public traces.
TEST(Describe, MooncakeConversationAgreesWithWhatOthersMeasured) {
  FOREBAY_NEEDS_TRACE(path, "mooncake/conversation_trace.jsonl");
  Diagnostics diagnostics;
  auto reader = open_trace(path, {}, diagnostics);
  ASSERT_TRUE(reader.has_value());
  const auto result = describe(**reader, 131'072);
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(result->request_count, 12'031U);
  EXPECT_NEAR(result->requests_per_s, 3.40, 0.005);
  EXPECT_EQ(result->accessed_blocks, 288'500U);
  EXPECT_NEAR(result->infinite_hit_ratio, 0.3664, 0.00005);
  // Spread inside their interval the arrivals are near Poisson; as recorded their CV is 3.03.
  EXPECT_NEAR(result->gap_cv, 1, 0.1);
}

TEST(Describe, MooncakeAsRecordedHasTheBurstsThatItsRoundingMade) {
  FOREBAY_NEEDS_TRACE(path, "mooncake/conversation_trace.jsonl");
  Diagnostics diagnostics;
  ReadOptions options;
  options.spread_stamps = false;
  auto reader = open_trace(path, options, diagnostics);
  ASSERT_TRUE(reader.has_value());
  const auto result = describe(**reader, 0);
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(result->distinct_arrival_count, 1'180U);
  EXPECT_NEAR(result->gap_cv, 3.03, 0.005);
}

TEST(Describe, WekaMedianRequestIsWhatAnIndependentReaderFound) {
  FOREBAY_NEEDS_TRACE(path, "weka-cc/claude-code-sessions.tar.zst");
  Diagnostics diagnostics;
  auto reader = open_trace(path, {}, diagnostics);
  ASSERT_TRUE(reader.has_value());
  const auto result = describe(**reader, 131'072);
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(result->input_tokens.p50, 106'132U);
  EXPECT_EQ(result->output_tokens.p50, 219U);
  EXPECT_NEAR(result->infinite_hit_ratio, 0.964, 0.0005);
}

}  // namespace
}  // namespace forebay::workload
