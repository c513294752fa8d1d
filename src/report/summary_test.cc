#include "report/summary.h"

#include <gtest/gtest.h>

#include <numeric>

#include "report/test_log.h"

namespace forebay::report {
namespace {

// Values 1..n: order statistics by hand, floors from MLPerf LoadGen (11, 64, 662, 6,636).
Distribution of_one_to(int n, std::uint64_t censored = 0) {
  std::vector<double> values(static_cast<std::size_t>(n));
  std::iota(values.begin(), values.end(), 1.0);
  return distribution_of(values, censored, values.size() + censored);
}

TEST(Distribution, PercentilesAreOrderStatistics) {
  const Distribution d = of_one_to(1000);
  EXPECT_EQ(d.mean, 500.5);
  EXPECT_EQ(d.p50, 500);
  EXPECT_EQ(d.p90, 900);
  EXPECT_EQ(d.p99, 990);
  EXPECT_EQ(d.p999, std::nullopt);
  EXPECT_EQ(d.max, 1000);
}

TEST(Distribution, BelowItsSampleFloorAPercentileIsAbsent) {
  EXPECT_FALSE(of_one_to(10).p50);
  EXPECT_TRUE(of_one_to(11).p50);
  EXPECT_FALSE(of_one_to(63).p90);
  EXPECT_TRUE(of_one_to(64).p90);
  EXPECT_FALSE(of_one_to(661).p99);
  EXPECT_TRUE(of_one_to(662).p99);
}

TEST(Distribution, WhatNeverCameIsLaterThanEverythingElse) {
  const Distribution d = of_one_to(80, 20);
  EXPECT_EQ(d.count, 100U);
  EXPECT_EQ(d.p50, 50);
  EXPECT_FALSE(d.p90);  // among those that never came
  EXPECT_FALSE(d.mean);
  EXPECT_FALSE(d.max);
}

TEST(Distribution, RepetitionsDoNotAddToTheSample) {
  std::vector<double> values(1000, 1.0);
  EXPECT_TRUE(distribution_of(values, 0, 1000).p99);
  EXPECT_FALSE(distribution_of(values, 0, 100).p99);
  EXPECT_TRUE(distribution_of(values, 0, 100).p90);
}

TEST(Distribution, OfNothingHasNoFigures) {
  const Distribution d = distribution_of({}, 0, 0);
  EXPECT_EQ(d.count, 0U);
  EXPECT_FALSE(d.mean || d.p50 || d.max);
}

TEST(Summary, IdenticalRoundsOfASimulationAreOneSample) {
  TestLog test;
  for (std::int64_t round = 0; round < 6; ++round) {
    for (std::int64_t arm = 0; arm < 2; ++arm) {
      test.cell(arm, round);
      test.request(arm, round, 0, arm == 0 ? 40 : 10);
    }
  }
  const Summary same = summarise(test.log);
  ASSERT_FALSE(same.comparisons.empty());
  EXPECT_TRUE(same.comparisons[0].identical);
  EXPECT_FALSE(same.comparisons[0].ratio.interval);
  // One nanosecond in one round makes six samples.
  ++test.log.requests[0].first_token_ns;
  const Summary other = summarise(test.log);
  EXPECT_FALSE(other.comparisons[0].identical);
  EXPECT_TRUE(other.comparisons[0].ratio.interval);
}

TEST(Summary, ALateMachineIsInconclusiveAndSaysWhatHelps) {
  TestLog test;
  test.cell(0, 0);
  test.request(0, 0, 0, 10).send_ns = 50 * kMs;
  Summary summary = summarise(test.log);
  EXPECT_FALSE(summary.valid);
  EXPECT_TRUE(summary.inconclusive);
  ASSERT_EQ(summary.advice.size(), 2U);
  EXPECT_TRUE(summary.advice[0].starts_with("client lag: "));
  EXPECT_NE(summary.advice[1].find("--virtual"), std::string::npos);
  // A wrong byte is no matter of pace.
  test.log.requests[0].wrong_blocks = 1;
  summary = summarise(test.log);
  EXPECT_FALSE(summary.inconclusive);
  EXPECT_TRUE(summary.advice[0].starts_with("wrong bytes"));
  test.log.requests[0] = {};
  EXPECT_TRUE(summarise(test.log).advice.empty());
}

TEST(Summary, CountsOnlyRequestsAfterTheWarmUp) {
  TestLog test;
  test.cell(0, 0);
  test.request(0, 0, 0, 1000).warm_up = 1;
  test.request(0, 0, 100, 10);
  test.request(0, 0, 200, 30);
  const ArmSummary arm = summarise(test.log).arms[0];
  EXPECT_EQ(arm.request_count, 2U);
  EXPECT_EQ(arm.ttft_ns.mean, 20.0 * kMs);
  EXPECT_EQ(arm.where_ns.recompute, 20.0 * kMs);
  // From 100 ms to 240 ms: ten tokens in 0.14 s.
  EXPECT_NEAR(arm.output_tokens_per_second, 10 / 0.14, 1e-9);
  EXPECT_NEAR(arm.input_tokens_per_second, 200 / 0.14, 1e-9);
  EXPECT_NEAR(arm.requests_per_second, 2 / 0.14, 1e-9);
  // Four tokens after the first in 10 ms.
  EXPECT_EQ(arm.ns_per_output_token.mean, 2.5 * kMs);
  EXPECT_EQ(arm.latency_ns.mean, 30.0 * kMs);
}

TEST(Summary, AStoppedCellIsNotCountedWhereThereAreCompleteOnes) {
  TestLog test;
  test.cell(0, 0);
  test.request(0, 0, 0, 10);
  test.cell(0, 1).state = static_cast<int>(CellState::kPartial);
  test.request(0, 1, 0, 999);
  const Summary summary = summarise(test.log);
  EXPECT_EQ(summary.arms[0].round_count, 1U);
  EXPECT_EQ(summary.arms[0].request_count, 1U);
  EXPECT_EQ(summary.arms[0].ttft_ns.mean, 10.0 * kMs);
}

TEST(Summary, WithoutACompleteCellItShowsWhatThereIs) {
  TestLog test;
  test.cell(0, 0).state = static_cast<int>(CellState::kPartial);
  test.request(0, 0, 0, 10);
  RequestRow& cut = test.request(0, 0, 5, 0);
  cut.state = static_cast<int>(RequestState::kUnfinished);
  cut.first_token_ns = 0;
  const Summary summary = summarise(test.log);
  EXPECT_EQ(summary.rounds_complete, 0U);
  EXPECT_EQ(summary.arms[0].request_count, 2U);
  EXPECT_EQ(summary.arms[0].ttft_ns.censored, 1U);
  EXPECT_FALSE(summary.arms[0].ttft_ns.mean);
}

TEST(Summary, RowsOfACellWithoutItsOwnRowDoNotCount) {
  TestLog test;
  test.request(0, 0, 0, 10);  // the kill came between the two files
  EXPECT_EQ(summarise(test.log).arms[0].request_count, 0U);
}

TEST(Summary, LoadRateIsBytesOverTheTimeInWhichAnybodyWaited) {
  TestLog test;
  test.cell(1, 0);
  const auto loads = [&](std::int64_t from_ms, std::int64_t to_ms, std::int64_t bytes) {
    RequestRow& row = test.request(1, 0, from_ms, 500);
    row.read_ns = (to_ms - from_ms) * kMs;
    row.load_done_ns = to_ms * kMs;
    row.flash_bytes = bytes;
  };
  loads(0, 100, 1000);
  loads(50, 150, 3000);   // overlaps
  loads(60, 70, 500);     // inside
  loads(300, 350, 1500);  // apart
  // 150 ms and 50 ms.
  EXPECT_NEAR(*summarise(test.log).arms[1].load_bytes_per_second, 6000 / 0.2, 1e-9);
  EXPECT_FALSE(summarise(test.log).arms[0].load_bytes_per_second);
}

TEST(Summary, BlocksAreCountedBySource) {
  TestLog test;
  test.cell(1, 0);
  RequestRow& row = test.request(1, 0, 0, 10);
  row.hbm_blocks = 1;
  row.dram_blocks = 2;
  row.flash_blocks = 3;
  const BlockSources blocks = summarise(test.log).arms[1].blocks;
  EXPECT_EQ(blocks.hbm, 1U);
  EXPECT_EQ(blocks.dram, 2U);
  EXPECT_EQ(blocks.flash, 3U);
  EXPECT_EQ(blocks.recomputed, 4U);
  EXPECT_EQ(blocks.total(), 10U);
}

TEST(Summary, TheCandidateIsComparedRoundByRound) {
  TestLog test;
  for (std::int64_t round = 0; round < 6; ++round) {
    for (std::int64_t arm = 0; arm < 2; ++arm) {
      test.cell(arm, round);
      // The machine gets slower by the round; the ratio stays 1 to 4.
      const std::int64_t ttft_ms = (arm == 0 ? 40 : 10) * (1 + round);
      for (int i = 0; i < 12; ++i) test.request(arm, round, 10 * i, ttft_ms);
    }
  }
  const Summary summary = summarise(test.log);
  EXPECT_EQ(summary.rounds_complete, 6U);
  ASSERT_FALSE(summary.comparisons.empty());
  const Comparison& mean = summary.comparisons[0];
  EXPECT_EQ(mean.baseline, "recompute");
  EXPECT_EQ(mean.metric, "ttft_ns.mean");
  EXPECT_NEAR(mean.ratio.ratio, 0.25, 1e-12);
  EXPECT_NEAR(mean.ratio.interval->low, 0.25, 1e-12);
  EXPECT_NEAR(mean.ratio.interval->high, 0.25, 1e-12);
  EXPECT_EQ(mean.ratio.interval->confidence, 0.96875);
  EXPECT_EQ(summary.arms[1].ttft_ns_mean_by_round.size(), 6U);
  EXPECT_EQ(summary.arms[1].ttft_ns_mean_by_round[2], 30.0 * kMs);
  for (const Comparison& comparison : summary.comparisons) {
    EXPECT_NE(comparison.metric, "ttft_ns.p90");  // twelve requests a round are below its floor
  }
}

TEST(Summary, ARoundThatOnlyOneArmCompletedIsNotCompared) {
  TestLog test;
  test.cell(0, 0);
  test.request(0, 0, 0, 40);
  test.cell(1, 1);
  test.request(1, 1, 0, 10);
  EXPECT_TRUE(summarise(test.log).comparisons.empty());
}

std::string only_reason(const TestLog& test) {
  const Summary summary = summarise(test.log);
  EXPECT_FALSE(summary.valid);
  EXPECT_EQ(summary.invalid_reasons.size(), 1U);
  return summary.invalid_reasons.empty() ? "" : summary.invalid_reasons[0];
}

TEST(Summary, WrongBytesMakeARunInvalid) {
  TestLog test;
  test.cell(1, 0);
  test.request(1, 0, 0, 10).wrong_blocks = 1;
  EXPECT_EQ(only_reason(test), "forebay, round 1: up to 1 blocks held wrong bytes");
}

TEST(Summary, FailedRequestsMakeARunInvalid) {
  TestLog test;
  test.cell(0, 0);
  test.request(0, 0, 0, 10).state = static_cast<int>(RequestState::kFailed);
  EXPECT_EQ(only_reason(test), "recompute, round 1: up to 1 requests failed");
}

TEST(Summary, AClientThatLaggedMakesARunInvalid) {
  TestLog test;
  test.cell(0, 0);
  test.cell(0, 1);
  for (int i = 0; i < 100; ++i) {
    test.request(0, 0, i, 10).send_ns += 10 * kMs;  // at the limit is not above it
    RequestRow& late = test.request(0, 1, i, 10);
    if (i >= 98) late.send_ns += 25 * kMs;
  }
  EXPECT_EQ(only_reason(test),
            "recompute, round 2: the client sent late, lag p99 up to 25.0 ms, at most 10");
}

TEST(Summary, AMachineThatSetThePaceMakesARunInvalid) {
  TestLog test;
  test.cell(1, 0).step_lag_ns_total = 60 * kMs;  // of 1,000
  test.request(1, 0, 0, 10);
  EXPECT_EQ(only_reason(test),
            "forebay, round 1: this machine, not the accelerator, set the pace: steps were late by "
            "up to 6.0 % of the time, at most 5");
}

TEST(Summary, AnArmThatCouldNotRunMakesARunInvalid) {
  TestLog test;
  test.cell(1, 0).state = static_cast<int>(CellState::kFailed);
  EXPECT_EQ(only_reason(test), "forebay, round 1: could not run");
}

TEST(Summary, VariantsStandApartFromTheRunItself) {
  TestLog test;
  test.log.facts.variants = {{"workload.input_tokens", "1000"}};
  test.cell(0, 0);
  test.request(0, 0, 0, 10);
  test.cell(0, 0).variant = 1;
  test.request(0, 0, 0, 70).variant = 1;
  const Summary summary = summarise(test.log);
  EXPECT_EQ(summary.arms[0].ttft_ns.mean, 10.0 * kMs);
  ASSERT_EQ(summary.variants.size(), 1U);
  ASSERT_EQ(summary.variants[0].arms.size(), 1U);
  EXPECT_EQ(summary.variants[0].arms[0].ttft_ns_mean, 70.0 * kMs);
}

TEST(SummaryJson, ATamperedFigureIsNamedWithBothValues) {
  TestLog test;
  test.cell(0, 0);
  test.request(0, 0, 0, 10);
  const std::string honest = summary_to_json(summarise(test.log), test.log.facts);
  EXPECT_TRUE(compare_summaries(honest, honest).empty());
  std::string tampered = honest;
  const std::size_t at = tampered.find("10000000.0");
  ASSERT_NE(at, std::string::npos);
  tampered.replace(at, 10, "1000000.0");
  const auto differences = compare_summaries(tampered, honest);
  ASSERT_EQ(differences.size(), 1U);
  EXPECT_EQ(differences[0],
            "arms.0.ttft_ns.mean: the summary says 1000000.0, the raw log gives 10000000.0");
}

TEST(SummaryJson, MissingAndForeignFiguresAreNamed) {
  TestLog test;
  test.cell(0, 0);
  const std::string honest = summary_to_json(summarise(test.log), test.log.facts);
  EXPECT_EQ(compare_summaries("not json", honest),
            std::vector<std::string>{"the summary is not JSON"});
  std::string renamed = honest;
  renamed.replace(renamed.find("\"valid\""), 7, "\"velid\"");
  EXPECT_EQ(compare_summaries(renamed, honest),
            (std::vector<std::string>{"valid: missing in the summary",
                                      "velid: not a figure of this version"}));
  EXPECT_LE(compare_summaries("{}", honest).size(), kDifferencesMax);
}

// Shown by recursion, 200,000 levels would need more stack than there is.
TEST(SummaryJson, ADeepValueIsADifference) {
  TestLog test;
  test.cell(0, 0);
  const std::string honest = summary_to_json(summarise(test.log), test.log.facts);
  const std::string deep = std::string(200'000, '[') + std::string(200'000, ']');
  const auto differences = compare_summaries("{\"format\": " + deep + "}", honest);
  ASSERT_FALSE(differences.empty());
  EXPECT_TRUE(differences[0].starts_with("format: ")) << differences[0];
}

}  // namespace
}  // namespace forebay::report
