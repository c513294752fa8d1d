// Which blocks leave: leaf first, orphans before anything, a tenant's own at its quota.
#include <gtest/gtest.h>

#include "store/test_rig.h"

namespace forebay::store {
namespace {

StoreOptions dram_of(std::size_t blocks) {
  StoreOptions options;
  options.dram_bytes = blocks * 8192;
  options.policy = "lru";
  return options;
}

std::vector<Status> put_as(StoreRig& rig, const std::string& tenant, std::uint64_t first,
                           std::size_t count) {
  const SpaceId space =
      rig.store->register_space({.tenant = tenant, .layout_fingerprint = "layout"}).value();
  std::deque<TestBuffer> buffers;
  std::vector<PutItem> items(count);
  for (std::size_t i = 0; i < count; ++i) {
    buffers.emplace_back(8192);
    items[i].id = test_id(first + i, tenant);
    items[i].data = buffers.back().lend();
  }
  rig.loop.run(rig.store->put(items, {.space = space}));
  std::vector<Status> statuses;
  for (const PutItem& item : items) statuses.push_back(item.status);
  return statuses;
}

std::size_t present_of(StoreRig& rig, const std::string& tenant, std::uint64_t first,
                       std::size_t count) {
  std::size_t present = 0;
  for (std::size_t i = 0; i < count; ++i) {
    present += rig.store->block_bytes(test_id(first + i, tenant)).has_value();
  }
  return present;
}

TEST(Eviction, AChainShrinksFromItsLeaf) {
  StoreRig rig(dram_of(16), false);
  rig.put(0, 8);
  rig.put(100, 8);
  rig.put(200, 4);
  EXPECT_EQ(rig.lookup(0, 8).present_blocks, 4U);  // the last four went, the first four are whole
  EXPECT_EQ(rig.lookup(100, 8).present_blocks, 8U);
}

TEST(Eviction, ARequestInSeveralCallsIsOneChainForThePolicy) {
  StoreRig rig(dram_of(24), false);
  rig.put(0, 8);
  // The engine asks for 16, loads 8, computes and puts 8 more.
  EXPECT_EQ(rig.lookup(0, 16).present_blocks, 8U);
  EXPECT_EQ(rig.get(0, 8).summary.leading_blocks, 8U);
  EXPECT_EQ(rig.state->touches.waiting_count(), 1U);
  std::deque<TestBuffer> buffers;
  std::vector<PutItem> items(8);
  for (std::size_t i = 0; i < items.size(); ++i) {
    buffers.emplace_back(8192);
    items[i].id = test_id(8 + i);
    items[i].parent = test_id(7 + i);
    items[i].data = buffers.back().lend();
    items[i].chain_depth = static_cast<std::uint32_t>(8 + i);
  }
  rig.loop.run(rig.store->put(items, {.space = rig.space}));
  EXPECT_EQ(rig.state->touches.waiting_count(), 0U);
  // Twelve others push out the leaf end of the sixteen, not the part that was only loaded.
  rig.put(1000, 12);
  EXPECT_EQ(rig.lookup(0, 16).present_blocks, 12U);
}

TEST(Eviction, AFullHitIsToldToThePolicyAtOnce) {
  StoreRig rig(dram_of(16), false);
  rig.put(0, 8);
  rig.put(100, 8);
  rig.lookup(0, 8);
  rig.get(0, 8);
  EXPECT_EQ(rig.state->touches.waiting_count(), 0U);
  rig.put(200, 4);
  EXPECT_EQ(rig.lookup(0, 8).present_blocks, 8U);
  EXPECT_EQ(rig.lookup(100, 8).present_blocks, 4U);
}

TEST(Eviction, OrphansGoFirst) {
  StoreRig rig(dram_of(16), false);
  rig.put(0, 8);
  rig.put(100, 8);  // touched later: LRU alone would keep these
  const std::vector<BlockId> ids{test_id(102)};
  ASSERT_TRUE(rig.loop.run(rig.store->remove(ids, {.space = rig.space})).has_value());
  EXPECT_EQ(rig.lookup(100, 8).present_blocks, 2U);
  rig.put(200, 6);  // one place is free, five orphans make way
  EXPECT_EQ(rig.lookup(0, 8).present_blocks, 8U);
  EXPECT_EQ(rig.lookup(100, 2).present_blocks, 2U);
  EXPECT_EQ(present_of(rig, "t", 103, 5), 0U);
}

TEST(Eviction, OnFlashAnOrphanIsWorthNothingAndAParentMoreThanItsChild) {
  StoreRig rig(dram_of(16));
  rig.put(0, 3);
  ASSERT_TRUE(rig.flush().has_value());
  const auto worth = [&](std::uint64_t number) {
    const Slot slot = rig.state->index().find(test_id(number));
    return rig.flash->owner()->worth(test_id(number), rig.state->index().entry(slot).flash_page);
  };
  EXPECT_GT(worth(1), worth(2));
  EXPECT_GT(worth(2), 0);
  const std::vector<BlockId> ids{test_id(0)};
  ASSERT_TRUE(rig.loop.run(rig.store->remove(ids, {.space = rig.space})).has_value());
  EXPECT_EQ(worth(1), 0);
  EXPECT_EQ(worth(2), 0);
}

TEST(Eviction, ADramQuotaIsHeldByATenantsOwnBlocks) {
  StoreOptions options = dram_of(32);
  options.quotas = {{.tenant = "small", .dram_bytes_max = 4 * 8192}};
  StoreRig rig(std::move(options), false);
  put_as(rig, "large", 0, 8);
  put_as(rig, "small", 0, 10);
  EXPECT_EQ(present_of(rig, "large", 0, 8), 8U);
  EXPECT_EQ(present_of(rig, "small", 0, 10), 4U);
}

TEST(Eviction, AFlashQuotaIsHeldByATenantsOwnBlocks) {
  StoreOptions options;
  options.write_back_bytes_max = 64 * 8192;
  options.policy = "lru";
  options.quotas = {
      {.tenant = "small", .flash_bytes_max = 4 * Residency::flash_footprint_bytes(8192)}};
  StoreRig rig(std::move(options));
  put_as(rig, "large", 0, 8);
  ASSERT_TRUE(rig.flush().has_value());
  for (std::uint64_t i = 0; i < 10; ++i) {
    put_as(rig, "small", i, 1);
    ASSERT_TRUE(rig.flush().has_value());
  }
  EXPECT_EQ(present_of(rig, "large", 0, 8), 8U);
  EXPECT_EQ(present_of(rig, "small", 0, 10), 4U);
  EXPECT_EQ(rig.flash->records.size(), 12U);
}

TEST(Eviction, ABlockLargerThanItsQuotaIsRefused) {
  StoreOptions options = dram_of(32);
  options.quotas = {{.tenant = "small", .dram_bytes_max = 4096}};
  StoreRig rig(std::move(options), false);
  EXPECT_EQ(put_as(rig, "small", 0, 1)[0].error().code, Errc::kNoSpace);
}

TEST(Eviction, WhatWaitsForFlashIsNeverDropped) {
  StoreRig rig(dram_of(16));
  rig.flash->stuck = true;
  rig.put(0, 16);
  const auto statuses = rig.put(100, 4);
  EXPECT_EQ(std::ranges::count_if(statuses, [](const Status& s) { return s.has_value(); }), 0);
  EXPECT_EQ(statuses[0].error().code, Errc::kBusy);
  EXPECT_EQ(rig.get(0, 16).summary.leading_blocks, 16U);
}

TEST(Eviction, EveryPolicyKeepsTheStoreWithinItsLimit) {
  for (const std::string_view name : policy::policy_names()) {
    StoreOptions options = dram_of(32);
    options.policy = name;
    StoreRig rig(std::move(options));
    Rng rng(5);
    for (int i = 0; i < 300; ++i) {
      const std::uint64_t chain = rng.below(40) * 1000;
      const std::size_t want = 1 + rng.below(12);
      const std::size_t present = rig.lookup(chain, want).present_blocks;
      EXPECT_EQ(rig.get(chain, present).wrong_blocks, 0U);
      rig.put(chain, want);
      ASSERT_LE(rig.state->residency->dram()->used_bytes(), 32U * 8192) << name;
    }
    EXPECT_GT(rig.store->stats().tiers[1].evicted_blocks, 100U) << name;
  }
}

}  // namespace
}  // namespace forebay::store
