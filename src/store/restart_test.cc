// What survives: a clean close, a kill, a full or read-only device, a device that goes and returns.
#include <gtest/gtest.h>

#include "core/bytes.h"
#include "store/disk_rig.h"

namespace forebay::store {
namespace {

constexpr std::uint64_t kDeviceBytes = 8 * kMiB;

StoreOptions flash_only() {
  StoreOptions options;
  options.policy = "lru";
  options.write_back_bytes_max = 2 * kMiB;
  return options;
}
StoreOptions both_tiers() {
  StoreOptions options = flash_only();
  options.dram_bytes = 32 * 8192;
  return options;
}

std::size_t ok_count(const std::vector<Status>& statuses) {
  return static_cast<std::size_t>(
      std::ranges::count_if(statuses, [](const Status& s) { return s.has_value(); }));
}

TEST(Restart, AClosedStoreComesBackWhole) {
  DiskRig rig(both_tiers(), kDeviceBytes, 1);
  ASSERT_TRUE(rig.open().has_value());
  EXPECT_EQ(ok_count(rig.put(0, 100)), 100U);
  const Status closed = rig.close();
  EXPECT_TRUE(closed.has_value()) << to_string(closed.error());
  ASSERT_TRUE(rig.reopen().has_value());
  EXPECT_EQ(rig.lookup(0, 100), 100U);
  const auto got = rig.get(0, 100);
  EXPECT_EQ(got.leading_blocks, 100U);
  EXPECT_EQ(got.wrong_blocks, 0U);
  EXPECT_EQ(rig.store->stats().tiers[2].block_count, 100U);
}

TEST(Restart, AKilledStoreKeepsWhatWasFlushed) {
  DiskRig rig(flash_only(), kDeviceBytes, 2);
  ASSERT_TRUE(rig.open().has_value());
  rig.put(0, 100);
  ASSERT_TRUE(rig.flush().has_value());
  rig.put(1000, 50);  // on its way when the process dies
  ASSERT_TRUE(rig.reopen().has_value());
  EXPECT_EQ(rig.get(0, 100).leading_blocks, 100U);
  EXPECT_EQ(rig.get(1000, 50).wrong_blocks, 0U);
}

TEST(Restart, UsageIsRestored) {
  DiskRig rig(flash_only(), kDeviceBytes, 3);
  ASSERT_TRUE(rig.open().has_value());
  rig.put(0, 60);
  ASSERT_TRUE(rig.flush().has_value());
  const std::uint64_t used = rig.store->stats().tiers[2].used_bytes;
  EXPECT_EQ(used, 60 * Residency::flash_footprint_bytes(8192));
  ASSERT_TRUE(rig.reopen().has_value());
  EXPECT_EQ(rig.store->stats().tiers[2].used_bytes, used);
}

TEST(Restart, HeatIsRestored) {
  DiskRig rig(flash_only(), kDeviceBytes, 4);
  ASSERT_TRUE(rig.open().has_value());
  for (std::uint64_t chain = 0; chain < 20; ++chain) rig.put(chain * 100, 4);
  ASSERT_TRUE(rig.flush().has_value());
  for (int i = 0; i < 30; ++i) rig.get(500, 4);  // the sixth chain is hot
  ASSERT_TRUE(rig.close().has_value());
  ASSERT_TRUE(rig.reopen().has_value());
  // Now far more comes than fits.
  for (std::uint64_t chain = 100; chain < 300; ++chain) {
    rig.put(chain * 100, 4);
    ASSERT_TRUE(rig.flush().has_value());
    rig.loop->run(sleep_a_little(rig.loop.get()));
    if (rig.store->stats().tiers[2].evicted_blocks >= 20) break;
  }
  EXPECT_GE(rig.store->stats().tiers[2].evicted_blocks, 20U);
  EXPECT_EQ(rig.lookup(500, 4), 4U);
}

TEST(Restart, ARemovedBlockStaysGone) {
  DiskRig rig(both_tiers(), kDeviceBytes, 5);
  ASSERT_TRUE(rig.open().has_value());
  rig.put(0, 10);
  ASSERT_TRUE(rig.flush().has_value());
  ASSERT_TRUE(rig.remove(9).has_value());
  ASSERT_TRUE(rig.reopen().has_value());
  EXPECT_EQ(rig.lookup(0, 10), 9U);
}

TEST(Restart, CapacityIsNeverExceededAndOldGivesWayToNew) {
  DiskRig rig(flash_only(), kDeviceBytes, 6);
  ASSERT_TRUE(rig.open().has_value());
  for (std::uint64_t chain = 0; chain < 100; ++chain) {
    rig.put(chain * 100, 16);
    ASSERT_TRUE(rig.flush().has_value());
    const FlashStats stats = rig.flash_stats();
    ASSERT_LE(stats.live_bytes, stats.capacity_bytes);
    ASSERT_LE(stats.capacity_bytes, kDeviceBytes);
  }
  EXPECT_EQ(rig.lookup(9900, 16), 16U);
  EXPECT_EQ(rig.get(9900, 16).wrong_blocks, 0U);
}

TEST(Restart, AFullDeviceTakesNoMoreAndStillServes) {
  DiskRig rig(flash_only(), kDeviceBytes, 7);
  ASSERT_TRUE(rig.open().has_value());
  rig.put(0, 20);
  ASSERT_TRUE(rig.flush().has_value());
  rig.engine->faults().add({.kind = io::FaultKind::kFull});
  rig.put(1000, 20);
  EXPECT_FALSE(rig.flush().has_value());
  EXPECT_EQ(rig.put(2000, 1)[0].error().code, Errc::kReadOnly);
  EXPECT_EQ(rig.get(0, 20).leading_blocks, 20U);
}

TEST(Restart, WithDramAFullDeviceCostsOnlyTheCopyOnFlash) {
  DiskRig rig(both_tiers(), kDeviceBytes, 8);
  ASSERT_TRUE(rig.open().has_value());
  rig.engine->faults().add({.kind = io::FaultKind::kReadOnly});
  EXPECT_EQ(ok_count(rig.put(0, 20)), 20U);
  EXPECT_FALSE(rig.flush().has_value());
  EXPECT_EQ(rig.get(0, 20).leading_blocks, 20U);
  EXPECT_EQ(ok_count(rig.put(1000, 10)), 10U);
}

TEST(Restart, ADeviceThatGoesIsAMissAndOneThatReturnsAHit) {
  DiskRig rig(flash_only(), kDeviceBytes, 9);
  ASSERT_TRUE(rig.open().has_value());
  rig.put(0, 20);
  ASSERT_TRUE(rig.flush().has_value());
  rig.engine->set_vanished(true);
  const auto gone = rig.get(0, 20);
  EXPECT_EQ(gone.misses[0], MissReason::kDevice);
  EXPECT_EQ(rig.lookup(0, 20), 0U);  // nothing is promised that cannot be had
  rig.engine->set_vanished(false);
  for (int i = 0; i < 200 && rig.lookup(0, 20) == 0; ++i) {
    rig.loop->run([](io::Loop* loop) -> Task<void> {
      co_await loop->sleep_for(Nanos(50'000'000));
    }(rig.loop.get()));
  }
  EXPECT_EQ(rig.lookup(0, 20), 20U);
  EXPECT_EQ(rig.get(0, 20).leading_blocks, 20U);
}

TEST(Restart, AStuckDeviceNeverHoldsACallPastItsDeadline) {
  DiskRig rig(both_tiers(), kDeviceBytes, 10);
  ASSERT_TRUE(rig.open().has_value());
  rig.put(0, 60);
  ASSERT_TRUE(rig.flush().has_value());
  rig.put(1000, 30);
  ASSERT_TRUE(rig.flush().has_value());
  rig.engine->faults().add({.kind = io::FaultKind::kStuck});
  const auto got = rig.get(0, 60, Nanos(10'000'000));
  EXPECT_LE(got.took, Nanos(10'000'000));
  EXPECT_GT(std::ranges::count(got.misses, MissReason::kTimedOut), 0);
  EXPECT_EQ(got.wrong_blocks, 0U);
}

TEST(Restart, AStoreOfAnotherKindIsNotFormattedOver) {
  DiskRig rig(flash_only(), kDeviceBytes, 11);
  rig.options().flash_options.format = false;
  std::vector<std::byte> junk(4096, std::byte{0x5a});
  const iovec piece{junk.data(), junk.size()};
  rig.loop->run([](block::Device* device, iovec from) -> Task<void> {
    (void)co_await block::write(*device, 0, std::span(&from, 1));
  }(rig.device.get(), piece));
  const Status opened = rig.open();
  ASSERT_FALSE(opened.has_value());
  EXPECT_EQ(opened.error().code, Errc::kCorrupt);
}

}  // namespace
}  // namespace forebay::store
