#include "store/cost_model.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/rng.h"

namespace forebay::store {
namespace {

constexpr TransferModel::Prior kPrior{.latency_ns = 1000, .bytes_per_second = 1e9};
Nanos line(double latency_ns, double ns_per_byte, std::uint64_t bytes) {
  return Nanos(std::llround(latency_ns + ns_per_byte * static_cast<double>(bytes)));
}

TEST(TransferModel, BelievesItsPriorBeforeAnythingWasSeen) {
  const TransferModel model(kPrior);
  EXPECT_DOUBLE_EQ(model.estimate_ns(1'000'000), 1000 + 1'000'000);
  EXPECT_DOUBLE_EQ(model.margin(), 1);
}

TEST(TransferModel, ReadsLatencyAndRateFromLoadsOfDifferentSizes) {
  TransferModel model(kPrior);
  for (int i = 0; i < 200; ++i) {
    const std::uint64_t bytes = 100'000U * (1 + static_cast<unsigned>(i) % 7);
    model.observe(bytes, line(50'000, 0.5, bytes));
  }
  EXPECT_NEAR(model.latency_ns(), 50'000, 500);
  EXPECT_NEAR(model.bytes_per_second(), 2e9, 2e7);
}

TEST(TransferModel, EqualSizesArePredictedExactlyAndLongerLoadsNotFlattered) {
  TransferModel model(kPrior);
  for (int i = 0; i < 50; ++i) model.observe(200'000, Nanos(300'000));
  EXPECT_NEAR(model.estimate_ns(200'000), 300'000, 1);
  EXPECT_NEAR(model.estimate_ns(400'000), 600'000, 1);
}

TEST(TransferModel, FollowsALastingTenfoldSlowdownWithinTenLoads) {
  TransferModel model(kPrior);
  for (int i = 0; i < 50; ++i) model.observe(200'000, Nanos(200'000));
  int loads = 0;
  while (model.estimate_ns(200'000) < 0.75 * 2'000'000 && loads < 100) {
    model.observe(200'000, Nanos(2'000'000));
    ++loads;
  }
  EXPECT_LE(loads, 10);
}

TEST(TransferModel, OneStallOfAThousandTimesMovesItLessThanAFifth) {
  TransferModel model(kPrior);
  for (int i = 0; i < 50; ++i) model.observe(200'000, Nanos(200'000));
  model.observe(200'000, Nanos(200'000'000));
  // Cut to 4 times the estimate and weighed by a twentieth, as long as it stands alone.
  EXPECT_NEAR(model.estimate_ns(200'000), 0.95 * 200'000 + 0.05 * 800'000, 1);
  for (int i = 0; i < 6; ++i) model.observe(200'000, Nanos(200'000));
  EXPECT_LT(model.estimate_ns(200'000), 225'000);
}

TEST(TransferModel, TheMarginGrowsWithScatterAndStaysBounded) {
  TransferModel model(kPrior);
  Rng rng(3);
  for (int i = 0; i < 500; ++i) {
    model.observe(100'000, Nanos(static_cast<std::int64_t>(50'000 + 100'000 * rng.uniform())));
  }
  // A uniform scatter of +-50 % is off by 25 % on average.
  EXPECT_GT(model.margin(), 1.1);
  EXPECT_LE(model.margin(), TransferModel::kMarginMax);
}

TEST(TransferModel, IgnoresALoadOfNothing) {
  TransferModel model(kPrior);
  model.observe(0, Nanos(123));
  EXPECT_EQ(model.observation_count(), 0U);
}

TEST(PrefillModel, StartsFromWhatItWasToldAndLearns) {
  PrefillModel model(Nanos(1000));
  EXPECT_TRUE(model.known());
  model.observe(100, Nanos(300'000));
  // (0.9 * 100 * 1000 + 300,000) / (0.9 * 100 + 100)
  EXPECT_NEAR(model.ns_per_token(), 390'000.0 / 190.0, 1e-6);
  for (int i = 0; i < 100; ++i) model.observe(100, Nanos(300'000));
  EXPECT_NEAR(model.ns_per_token(), 3000, 5);
}

TEST(PrefillModel, KnowsNothingUntilToldOrShown) {
  PrefillModel model(Nanos(0));
  EXPECT_FALSE(model.known());
  model.observe(0, Nanos(10));
  model.observe(10, Nanos(0));
  EXPECT_FALSE(model.known());
  model.observe(10, Nanos(50));
  EXPECT_DOUBLE_EQ(model.ns_per_token(), 5);
}

// Blocks of 1,000 bytes and 10 tokens throughout.
TEST(WorthScan, LoadsAllWhenLoadingIsFaster) {
  WorthScan scan({.dram_ns_per_byte = 0.1,
                  .flash_start_ns = 500,
                  .flash_ns_per_byte = 1,
                  .prefill_ns_per_token = 200});
  for (int i = 0; i < 5; ++i) scan.add(false, 1000, 10);
  EXPECT_EQ(scan.worth_blocks(), 5U);
  EXPECT_DOUBLE_EQ(scan.load_ns(), 500 + 5 * 1000);
  EXPECT_DOUBLE_EQ(scan.recompute_ns(), 5 * 2000);
}

TEST(WorthScan, AShortRunThatDoesNotPayTheLatencyIsRecomputed) {
  // One block: 1,500 against 2,000 pays; latency 1,500: 2,500 against 2,000 does not; three do.
  const WorthScan::Rates rates{
      .flash_start_ns = 1500, .flash_ns_per_byte = 1, .prefill_ns_per_token = 200};
  WorthScan one(rates);
  one.add(false, 1000, 10);
  EXPECT_EQ(one.worth_blocks(), 0U);
  EXPECT_DOUBLE_EQ(one.load_ns(), 0);
  WorthScan three(rates);
  for (int i = 0; i < 3; ++i) three.add(false, 1000, 10);
  EXPECT_EQ(three.worth_blocks(), 3U);
}

TEST(WorthScan, StopsWhereASlowTierBegins) {
  WorthScan scan({.dram_ns_per_byte = 0.1,
                  .flash_start_ns = 0,
                  .flash_ns_per_byte = 3,
                  .prefill_ns_per_token = 200});
  for (int i = 0; i < 4; ++i) scan.add(true, 1000, 10);
  for (int i = 0; i < 4; ++i) scan.add(false, 1000, 10);
  EXPECT_EQ(scan.worth_blocks(), 4U);
  EXPECT_DOUBLE_EQ(scan.load_ns(), 400);
}

TEST(WorthScan, GoesThroughASlowTierWhenWhatLiesBehindPaysForIt) {
  WorthScan scan({.dram_ns_per_byte = 0.1,
                  .flash_start_ns = 0,
                  .flash_ns_per_byte = 3,
                  .prefill_ns_per_token = 200});
  scan.add(false, 1000, 10);                             // gain -1,000
  for (int i = 0; i < 4; ++i) scan.add(true, 1000, 10);  // +1,900 each
  EXPECT_EQ(scan.worth_blocks(), 5U);
}

TEST(WorthScan, WithoutAPrefillRateEverythingPresentIsWorthLoading) {
  WorthScan scan({.flash_start_ns = 1e9, .flash_ns_per_byte = 1e3});
  for (int i = 0; i < 3; ++i) scan.add(false, 1000, 10);
  EXPECT_EQ(scan.worth_blocks(), 3U);
}

TEST(CostModel, WhatIsInFlightMustPassBeforeANewLoad) {
  CostModel model(Nanos(100));
  const double idle = model.rates().flash_start_ns;
  const auto ticket = model.begin_flash(1'000'000, Nanos(0));
  // The prior's 1 ns a byte.
  EXPECT_NEAR(model.rates().flash_start_ns - idle, 1'000'000, 1);
  model.end_flash(ticket, Nanos(5'000'000), false);
  EXPECT_DOUBLE_EQ(model.rates().flash_start_ns, idle);
  EXPECT_EQ(model.flash().observation_count(), 0U);
}

TEST(CostModel, LearnsFromConcurrentLoadsTheSharedRate) {
  CostModel model(Nanos(100));
  Nanos now{0};
  // Two loads of 1 MB at a time share 2 bytes/ns: the second is done when both are.
  for (int i = 0; i < 100; ++i) {
    const auto first = model.begin_flash(1'000'000, now);
    const auto second = model.begin_flash(1'000'000, now);
    model.end_flash(first, now + Nanos(500'000), true);
    model.end_flash(second, now + Nanos(1'000'000), true);
    now += Nanos(2'000'000);
  }
  EXPECT_NEAR(model.flash().bytes_per_second(), 2e9, 5e7);
  EXPECT_EQ(model.flash_in_flight_bytes(), 0U);
}

TEST(CostModel, ProbesASilentTierNowAndThenOnly) {
  CostModel model(Nanos(100));
  const auto ticket = model.begin_flash(1000, Nanos(0));
  model.end_flash(ticket, Nanos(1'000'000), true);
  EXPECT_FALSE(model.take_probe(Nanos(1'000'000) + CostModel::kProbeInterval / 2));
  EXPECT_TRUE(model.take_probe(Nanos(1'000'000) + CostModel::kProbeInterval));
  EXPECT_FALSE(model.take_probe(Nanos(1'000'001) + CostModel::kProbeInterval));
}

}  // namespace
}  // namespace forebay::store
