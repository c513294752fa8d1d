#include "store/block_walk.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "core/bytes.h"
#include "store/disk_rig.h"

namespace forebay::store {
namespace {

constexpr std::uint64_t kDeviceBytes = 16 * kMiB;

StoreOptions flash_only() {
  StoreOptions options;
  options.write_back_bytes_max = 4 * kMiB;
  return options;
}

struct Told {
  std::map<BlockId, Status> blocks;
  std::size_t batches = 0;
  std::size_t wrong_blocks = 0;     // other bytes than theirs
  std::size_t orphaned_blocks = 0;  // before their parents
  std::size_t repeated_blocks = 0;
  std::size_t largest_batch_bytes = 0;
};

// Blocks of the chains [first, first + 100) for every multiple of 100.
Told walk(DiskRig& rig, std::uint64_t bytes_max, const std::string& tenant = "") {
  std::map<BlockId, std::uint64_t> numbers;
  for (std::uint64_t number = 0; number < 1000; ++number) numbers[test_id(number)] = number;
  Told told;
  std::vector<std::byte> expected(DiskRig::kBlockBytes);
  const auto walking = rig.store->walk(tenant);
  while (true) {
    const auto blocks = rig.loop->run(walking->next(bytes_max, {}));
    if (blocks.empty()) return told;
    ++told.batches;
    std::size_t bytes = 0;
    for (const WalkedBlock& block : blocks) {
      bytes += block.data.size();
      told.repeated_blocks += !told.blocks.emplace(block.id, block.status).second;
      if (!block.status) continue;
      EXPECT_EQ(block.space.tenant, "t");
      EXPECT_EQ(block.space.layout_fingerprint, "layout");
      EXPECT_EQ(block.token_count, 16U);
      fill_block(expected, numbers.at(block.id));
      told.wrong_blocks += !std::ranges::equal(block.data, expected);
      told.orphaned_blocks += block.parent != kNoParent && !told.blocks.contains(block.parent);
      EXPECT_EQ(block.chain_depth, numbers.at(block.id) % 100);
      EXPECT_EQ(block.engine_key.size(), 8U);
    }
    told.largest_batch_bytes = std::max(told.largest_batch_bytes, bytes);
  }
}

TEST(BlockWalk, TellsEveryBlockOnceParentsFirstInBatchesOfTheSizeAskedFor) {
  for (const bool reopened : {false, true}) {
    DiskRig rig(flash_only(), kDeviceBytes, 1);
    ASSERT_TRUE(rig.open());
    for (const std::uint64_t first : {200U, 0U, 100U}) (void)rig.put(first, 40);
    ASSERT_TRUE(rig.flush());
    if (reopened) {
      ASSERT_TRUE(rig.close());
      ASSERT_TRUE(rig.reopen());
    }
    const Told told = walk(rig, 10 * DiskRig::kBlockBytes);
    EXPECT_EQ(told.blocks.size(), 120U);
    EXPECT_EQ(told.batches, 12U);
    EXPECT_EQ(told.largest_batch_bytes, 10 * DiskRig::kBlockBytes);
    EXPECT_EQ(told.wrong_blocks + told.orphaned_blocks + told.repeated_blocks, 0U);
    for (const auto& [id, status] : told.blocks) EXPECT_TRUE(status);
  }
}

TEST(BlockWalk, ABatchHasOneBlockAtLeast) {
  DiskRig rig(flash_only(), kDeviceBytes, 2);
  ASSERT_TRUE(rig.open());
  (void)rig.put(0, 3);
  ASSERT_TRUE(rig.flush());
  EXPECT_EQ(walk(rig, 1).batches, 3U);
}

TEST(BlockWalk, OfOneTenantOnlyItsBlocks) {
  DiskRig rig(flash_only(), kDeviceBytes, 3);
  ASSERT_TRUE(rig.open());
  (void)rig.put(0, 3);
  ASSERT_TRUE(rig.flush());
  EXPECT_EQ(walk(rig, kMiB, "t").blocks.size(), 3U);
  EXPECT_EQ(walk(rig, kMiB, "somebody").blocks.size(), 0U);
}

TEST(BlockWalk, BlocksInDramAloneAreToldToo) {
  StoreOptions options;
  options.dram_bytes = 4 * kMiB;
  DiskRig rig(options, kDeviceBytes, 4);
  ASSERT_TRUE(rig.open());
  (void)rig.put(0, 20);  // not flushed
  const Told told = walk(rig, kMiB);
  EXPECT_EQ(told.blocks.size(), 20U);
  EXPECT_EQ(told.wrong_blocks + told.orphaned_blocks, 0U);
}

TEST(BlockWalk, ADamagedBlockIsToldAsSuchAndStays) {
  DiskRig rig(flash_only(), kDeviceBytes, 5);
  ASSERT_TRUE(rig.open());
  (void)rig.put(0, 20);
  ASSERT_TRUE(rig.flush());
  rig.engine->faults().add({.kind = io::FaultKind::kBitRot, .probability = 0.3});
  const Told told = walk(rig, 4 * DiskRig::kBlockBytes);
  EXPECT_EQ(told.blocks.size(), 20U);
  const auto bad = std::ranges::count_if(
      told.blocks, [](const auto& block) { return !block.second.has_value(); });
  EXPECT_GE(bad, 1);
  EXPECT_LE(bad, 19);
  EXPECT_EQ(told.wrong_blocks, 0U);
  EXPECT_EQ(rig.lookup(0, 20), 20U);
  EXPECT_EQ(rig.store->stats().quarantined_blocks, 0U);
}

TEST(BlockWalk, ADeviceThatIsStuckEndsTheCallAtItsDeadline) {
  DiskRig rig(flash_only(), kDeviceBytes, 6);
  ASSERT_TRUE(rig.open());
  (void)rig.put(0, 4);
  ASSERT_TRUE(rig.flush());
  rig.engine->faults().add({.kind = io::FaultKind::kStuck, .count = 100});
  const auto walking = rig.store->walk("");
  const Nanos deadline = rig.loop->now() + Nanos(1'000'000);
  const auto blocks = rig.loop->run(walking->next(kMiB, {.deadline = deadline}));
  EXPECT_EQ(rig.loop->now(), deadline);
  ASSERT_EQ(blocks.size(), 4U);
  for (const WalkedBlock& block : blocks) {
    ASSERT_FALSE(block.status);
    EXPECT_EQ(block.status.error().code, Errc::kTimedOut);
  }
}

}  // namespace
}  // namespace forebay::store
