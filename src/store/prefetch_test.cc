#include "store/prefetch.h"

#include <gtest/gtest.h>

#include "store/test_rig.h"

namespace forebay::store {
namespace {

// Blocks 0 to 59 on flash only: DRAM holds others.
std::unique_ptr<StoreRig> rig_with_chain_on_flash() {
  StoreOptions options;
  options.dram_bytes = 64 * 8192;
  options.policy = "lru";
  auto rig = std::make_unique<StoreRig>(std::move(options));
  rig->put(0, 60);
  EXPECT_TRUE(rig->flush().has_value());
  rig->put(1000, 64);
  EXPECT_TRUE(rig->flush().has_value());
  EXPECT_EQ(rig->lookup(0, 60).blocks_by_tier[static_cast<std::size_t>(Tier::kDram)], 0U);
  return rig;
}

// A request that goes away: what the store asks of whoever prefetches.
struct Asker {
  CancelSource source;
  ~Asker() { source.cancel(); }
};

std::vector<BlockId> chain_of(std::uint64_t first, std::size_t count) {
  std::vector<BlockId> chain;
  for (std::size_t i = 0; i < count; ++i) chain.push_back(test_id(first + i));
  return chain;
}

void turn_for(StoreRig& rig, Nanos span) {
  const Nanos end = rig.loop.now() + span;
  while (rig.loop.now() < end) rig.loop.run(sleep_a_little(&rig.loop));
}

TEST(Prefetch, WhatWasLoadedAheadIsAHitInDram) {
  const auto rig = rig_with_chain_on_flash();
  Asker asker;
  rig->store->prefetch(chain_of(0, 10), {.space = rig->space, .cancel = &asker.source});
  turn_for(*rig, Nanos(10'000'000));
  const auto got = rig->get(0, 10);
  EXPECT_EQ(got.summary.blocks_by_tier[static_cast<std::size_t>(Tier::kDram)], 10U);
  EXPECT_EQ(got.wrong_blocks, 0U);
  EXPECT_EQ(rig->store->stats().prefetch_hit_blocks, 10U);
  EXPECT_EQ(rig->store->stats().prefetch_wasted_blocks, 0U);
  EXPECT_EQ(rig->state->residency->ahead_bytes(), 0U);
}

TEST(Prefetch, NeverHoldsMoreThanItsWindowAheadOfNeed) {
  const auto rig = rig_with_chain_on_flash();
  Asker asker;
  rig->store->prefetch(chain_of(0, 60), {.space = rig->space, .cancel = &asker.source});
  turn_for(*rig, Nanos(10'000'000));
  EXPECT_EQ(rig->state->residency->ahead_bytes(), 16U * 8192);  // a quarter of DRAM
  // Each block that is taken opens the window for another.
  EXPECT_EQ(rig->get(0, 8).summary.leading_blocks, 8U);
  turn_for(*rig, Nanos(10'000'000));
  EXPECT_EQ(rig->state->residency->ahead_bytes(), 16U * 8192);
  const auto got = rig->get(8, 16);
  EXPECT_EQ(got.summary.blocks_by_tier[static_cast<std::size_t>(Tier::kDram)], 16U);
}

TEST(Prefetch, ABlockStillOnItsWayIsLateAndReadOnce) {
  const auto rig = rig_with_chain_on_flash();
  rig->flash->read_latency = Nanos(5'000'000);
  Asker asker;
  rig->store->prefetch(chain_of(0, 4), {.space = rig->space, .cancel = &asker.source});
  const std::uint64_t before = rig->flash->read_blocks;
  const auto got = rig->get(0, 4);
  EXPECT_EQ(got.summary.leading_blocks, 4U);
  EXPECT_EQ(got.wrong_blocks, 0U);
  EXPECT_EQ(rig->flash->read_blocks - before, 4U);
  EXPECT_EQ(rig->store->stats().prefetch_late_blocks, 4U);
}

TEST(Prefetch, ALateBlockDoesNotHoldACallPastItsDeadline) {
  const auto rig = rig_with_chain_on_flash();
  rig->flash->stuck = true;
  Asker asker;
  rig->store->prefetch(chain_of(0, 4), {.space = rig->space, .cancel = &asker.source});
  const auto got =
      rig->get(0, 4, 8192, {.space = rig->space, .deadline = rig->loop.now() + Nanos(1'000'000)});
  EXPECT_EQ(got.took, Nanos(1'000'000));
  EXPECT_EQ(got.misses[0], MissReason::kTimedOut);
}

TEST(Prefetch, IsWastedWhenTheRequestGoesAway) {
  const auto rig = rig_with_chain_on_flash();
  {
    Asker asker;
    rig->store->prefetch(chain_of(0, 10), {.space = rig->space, .cancel = &asker.source});
    turn_for(*rig, Nanos(10'000'000));
    EXPECT_GT(rig->state->residency->ahead_bytes(), 0U);
  }
  turn_for(*rig, Nanos(1'000'000));
  EXPECT_EQ(rig->state->residency->ahead_bytes(), 0U);
  EXPECT_EQ(rig->store->stats().prefetch_wasted_blocks, 10U);
  EXPECT_EQ(rig->lookup(0, 10).blocks_by_tier[static_cast<std::size_t>(Tier::kFlash)], 10U);
}

TEST(Prefetch, CancelledInFlightItLeavesNoTrace) {
  const auto rig = rig_with_chain_on_flash();
  rig->flash->read_latency = Nanos(5'000'000);
  {
    Asker asker;
    rig->store->prefetch(chain_of(0, 10), {.space = rig->space, .cancel = &asker.source});
  }
  turn_for(*rig, Nanos(20'000'000));
  EXPECT_EQ(rig->loop.spawned_count(), 0U);
  EXPECT_EQ(rig->state->prefetcher.in_flight_bytes(), 0U);
  const auto got = rig->get(0, 10);
  EXPECT_EQ(got.summary.blocks_by_tier[static_cast<std::size_t>(Tier::kFlash)], 10U);
}

TEST(Prefetch, StopsAtTheEndOfThePresentRunAndAtADamagedBlock) {
  const auto rig = rig_with_chain_on_flash();
  rig->flash->records[3].damaged = true;
  Asker asker;
  rig->store->prefetch(chain_of(0, 5), {.space = rig->space, .cancel = &asker.source});
  turn_for(*rig, Nanos(10'000'000));
  EXPECT_EQ(rig->store->stats().quarantined_blocks, 1U);
  EXPECT_EQ(rig->lookup(0, 5).present_blocks, 2U);
  EXPECT_EQ(rig->get(0, 5).wrong_blocks, 0U);
}

TEST(Promotion, ABlockReadFromFlashMovesUpWhereThereIsRoom) {
  StoreOptions options;
  options.dram_bytes = 64 * 8192;
  options.policy = "lru";
  StoreRig rig(std::move(options));
  rig.put(0, 10);
  ASSERT_TRUE(rig.flush().has_value());
  for (std::uint64_t i = 0; i < 10; ++i) {
    rig.state->residency->drop_dram(rig.state->index().find(test_id(i)));
  }
  EXPECT_EQ(rig.get(0, 10).summary.blocks_by_tier[static_cast<std::size_t>(Tier::kFlash)], 10U);
  turn_for(rig, Nanos(10'000'000));
  EXPECT_EQ(rig.store->stats().promoted_blocks, 10U);
  const auto again = rig.get(0, 10);
  EXPECT_EQ(again.summary.blocks_by_tier[static_cast<std::size_t>(Tier::kDram)], 10U);
  EXPECT_EQ(again.wrong_blocks, 0U);
}

}  // namespace
}  // namespace forebay::store
