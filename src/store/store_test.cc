#include "store/store.h"

#include <gtest/gtest.h>

#include "core/bytes.h"
#include "store/pieces.h"
#include "store/test_rig.h"

namespace forebay::store {
namespace {

StoreOptions both_tiers() {
  StoreOptions options;
  options.dram_bytes = 64 * 8192;
  return options;
}
StoreOptions flash_only() {
  StoreOptions options;
  options.write_back_bytes_max = 64 * 8192;
  return options;
}

std::size_t ok_count(const std::vector<Status>& statuses) {
  return static_cast<std::size_t>(
      std::ranges::count_if(statuses, [](const Status& s) { return s.has_value(); }));
}

TEST(Store, ReturnsWhatWasPutFromDramAtOnce) {
  StoreRig rig(both_tiers(), false);
  EXPECT_EQ(ok_count(rig.put(100, 5)), 5U);
  EXPECT_EQ(rig.lookup(100, 7).present_blocks, 5U);
  const auto got = rig.get(100, 7);
  EXPECT_EQ(got.summary.leading_blocks, 5U);
  EXPECT_EQ(got.summary.blocks_by_tier[static_cast<std::size_t>(Tier::kDram)], 5U);
  EXPECT_EQ(got.wrong_blocks, 0U);
  EXPECT_EQ(got.misses[5], MissReason::kAbsent);
}

TEST(Store, WritesBackBehindAndReadsFromFlashWhatDramDropped) {
  StoreRig rig(both_tiers());
  rig.flash->append_latency = Nanos(1'000'000);
  EXPECT_EQ(ok_count(rig.put(0, 60)), 60U);
  ASSERT_TRUE(rig.flush().has_value());
  EXPECT_EQ(rig.flash->records.size(), 60U);
  EXPECT_EQ(rig.flash->last_facts_tenant, "t");
  EXPECT_EQ(ok_count(rig.put(1000, 60)), 60U);  // pushes most of the first 60 out of DRAM
  const auto got = rig.get(0, 60);
  EXPECT_EQ(got.summary.leading_blocks, 60U);
  EXPECT_GE(got.summary.blocks_by_tier[static_cast<std::size_t>(Tier::kFlash)], 50U);
  EXPECT_EQ(got.wrong_blocks, 0U);
}

TEST(Store, WithoutDramABlockIsVisibleOnlyWhenItIsDurable) {
  StoreRig rig(flash_only());
  rig.flash->append_latency = Nanos(1'000'000);
  EXPECT_EQ(ok_count(rig.put(0, 10)), 10U);
  EXPECT_EQ(rig.lookup(0, 10).present_blocks, 0U);
  ASSERT_TRUE(rig.flush().has_value());
  EXPECT_EQ(rig.lookup(0, 10).present_blocks, 10U);
  EXPECT_EQ(rig.state->residency->dram()->block_count(), 0U);
  EXPECT_EQ(rig.get(0, 10).summary.leading_blocks, 10U);
}

TEST(Store, ADamagedRecordIsAMissOnceAndThenGone) {
  StoreRig rig(flash_only());
  rig.put(0, 3);
  ASSERT_TRUE(rig.flush().has_value());
  rig.flash->records[2].damaged = true;
  const auto got = rig.get(0, 3);
  EXPECT_EQ(got.misses[1], MissReason::kCorrupt);
  EXPECT_EQ(got.summary.leading_blocks, 1U);
  EXPECT_EQ(rig.store->stats().quarantined_blocks, 1U);
  EXPECT_EQ(rig.flash->forgotten_durably, 1U);
  EXPECT_EQ(rig.get(0, 3).misses[1], MissReason::kAbsent);
}

TEST(Store, ADamagedRecordIsKeptForWhoeverLooks) {
  StoreOptions options = flash_only();
  options.keep_damaged = true;
  StoreRig rig(options);
  rig.put(0, 3);
  ASSERT_TRUE(rig.flush().has_value());
  rig.flash->records[2].damaged = true;
  for (int times = 0; times < 2; ++times) {
    EXPECT_EQ(rig.get(0, 3).misses[1], MissReason::kCorrupt);
  }
  EXPECT_EQ(rig.store->stats().quarantined_blocks, 0U);
  EXPECT_EQ(rig.flash->forgotten_durably, 0U);
}

TEST(Store, AStuckDeviceEndsInMissesAtTheDeadlineAndDramIsStillServed) {
  StoreRig rig(both_tiers());
  rig.put(0, 60);
  ASSERT_TRUE(rig.flush().has_value());
  rig.put(1000, 30);
  ASSERT_TRUE(rig.flush().has_value());
  rig.flash->stuck = true;
  const CallOptions call{.space = rig.space, .deadline = rig.loop.now() + Nanos(5'000'000)};
  const auto got = rig.get(0, 60, 8192, call);
  EXPECT_EQ(got.took, Nanos(5'000'000));
  EXPECT_EQ(std::ranges::count(got.misses, MissReason::kTimedOut), 26);
  EXPECT_EQ(std::ranges::count(got.misses, MissReason::kNone), 34);
}

TEST(Store, ABufferOfAnotherSizeIsAMissAndLeavesTheBlock) {
  StoreRig rig(both_tiers(), false);
  rig.put(0, 1);
  EXPECT_EQ(rig.get(0, 1, 4096).misses[0], MissReason::kLength);
  EXPECT_EQ(rig.get(0, 1).misses[0], MissReason::kNone);
  EXPECT_EQ(rig.store->block_bytes(test_id(0)), 8192U);
  EXPECT_EQ(rig.store->block_bytes(test_id(1)), std::nullopt);
}

TEST(Store, RemovedBlocksAreGoneFromEveryTier) {
  StoreRig rig(both_tiers());
  rig.put(0, 4);
  ASSERT_TRUE(rig.flush().has_value());
  const std::vector<BlockId> ids{test_id(2)};
  EXPECT_TRUE(rig.loop.run(rig.store->remove(ids, {.space = rig.space})).has_value());
  EXPECT_EQ(rig.lookup(0, 4).present_blocks, 2U);
  EXPECT_EQ(rig.flash->forgotten_durably, 1U);
  EXPECT_EQ(rig.flash->records.size(), 3U);
}

TEST(Store, ABlockRemovedOnItsWayToFlashDoesNotComeBack) {
  for (const bool staging : {false, true}) {
    StoreRig rig(staging ? flash_only() : both_tiers());
    rig.flash->append_latency = Nanos(1'000'000);
    rig.put(0, 1);
    const std::vector<BlockId> ids{test_id(0)};
    EXPECT_TRUE(rig.loop.run(rig.store->remove(ids, {.space = rig.space})).has_value());
    ASSERT_TRUE(rig.flush().has_value());
    EXPECT_EQ(rig.lookup(0, 1).present_blocks, 0U);
    EXPECT_TRUE(rig.flash->records.empty());
    EXPECT_EQ(rig.state->index().entry_count(), 0U);
  }
}

TEST(Store, PutWaitsForWriteBackRoomAndThenSaysBusy) {
  StoreOptions options = flash_only();
  options.write_back_bytes_max = 8 * 8192;
  StoreRig rig(std::move(options));
  rig.flash->append_latency = Nanos(1'000'000);
  EXPECT_EQ(ok_count(rig.put(0, 40)), 40U);
  rig.flash->stuck = true;
  const auto statuses = rig.put(1000, 40);
  EXPECT_EQ(ok_count(statuses), 8U);
  EXPECT_EQ(statuses.back().error().code, Errc::kBusy);
}

// Each call waits for a device that does nothing; a cancel after 1 ms ends it there and then.
class CancelledCall : public ::testing::Test {
 protected:
  CancelledCall() : rig_(options()) {
    rig_.put(0, 8);
    EXPECT_TRUE(rig_.flush().has_value());
    rig_.flash->stuck = true;
    rig_.loop.arm(timer_, started_ + Nanos(1'000'000), [this] { cancel_.cancel(); });
  }
  ~CancelledCall() override { EXPECT_EQ(rig_.loop.now() - started_, Nanos(1'000'000)); }

  static StoreOptions options() {
    StoreOptions options = flash_only();
    options.write_back_bytes_max = 8 * 8192;
    return options;
  }
  CallOptions call() { return {.space = rig_.space, .cancel = &cancel_}; }

  StoreRig rig_;
  CancelSource cancel_;
  io::Loop::Timer timer_;
  Nanos started_ = rig_.loop.now();
};

TEST_F(CancelledCall, EndsAGetFromFlash) {
  const auto got = rig_.get(0, 8, 8192, call());
  EXPECT_EQ(std::ranges::count(got.misses, MissReason::kCancelled), 8);
}

TEST_F(CancelledCall, EndsAPutThatWaitsForRoom) {
  const auto statuses = rig_.put(1000, 12, 8192, call());
  EXPECT_EQ(ok_count(statuses), 8U);
  EXPECT_EQ(statuses[8].error().code, Errc::kCancelled);
  EXPECT_EQ(statuses.back().error().code, Errc::kCancelled);
}

TEST_F(CancelledCall, EndsAFlush) {
  rig_.put(1000, 1);
  EXPECT_EQ(rig_.loop.run(rig_.store->flush(call())).error().code, Errc::kCancelled);
}

TEST_F(CancelledCall, EndsARemoveThatWaitsForWhatIsBeingWritten) {
  rig_.put(1000, 1);
  const std::vector<BlockId> ids{test_id(1000)};
  EXPECT_EQ(rig_.loop.run(rig_.store->remove(ids, call())).error().code, Errc::kCancelled);
}

TEST(Store, AFlushEndsAtItsDeadlineAndTheNextStillTellsWhatFailed) {
  StoreRig rig(flash_only());
  rig.flash->append_latency = Nanos(10'000'000);
  rig.flash->append_error = Error(Errc::kIo, "test");
  rig.put(0, 1);
  const Nanos deadline = rig.loop.now() + Nanos(1'000'000);
  EXPECT_EQ(rig.loop.run(rig.store->flush({.deadline = deadline})).error().code, Errc::kTimedOut);
  EXPECT_EQ(rig.loop.now(), deadline);
  EXPECT_EQ(rig.flush().error().code, Errc::kIo);
}

TEST(Store, RefusesWhatNoStoreCanTake) {
  StoreRig rig(both_tiers(), false);
  TestBuffer buffer(100);
  std::vector<PutItem> items(1);
  items[0].id = test_id(1);
  items[0].data = buffer.lend();
  rig.loop.run(rig.store->put(items, {.space = SpaceId{7}}));
  EXPECT_EQ(items[0].status.error().code, Errc::kInvalid);
  TestBuffer large(65 * 8192);
  items[0].data = large.lend();
  rig.loop.run(rig.store->put(items, {.space = rig.space}));
  EXPECT_EQ(items[0].status.error().code, Errc::kNoSpace);
}

TEST(Store, LookupSaysHowMuchIsWorthLoading) {
  StoreOptions options = both_tiers();
  options.prefill_ns_per_token = Nanos(1'000'000);
  StoreRig rig(std::move(options), false);
  rig.put(0, 10);
  const LookupResult found = rig.lookup(0, 20);
  EXPECT_EQ(found.worth_blocks, 10U);
  EXPECT_EQ(found.recompute_estimate, Nanos(10 * 16 * 1'000'000));
  EXPECT_LT(found.load_estimate, found.recompute_estimate);
}

TEST(Store, CloseDrainsWriteBackAndClosesTheTier) {
  StoreRig rig(both_tiers());
  rig.flash->append_latency = Nanos(1'000'000);
  rig.put(0, 10);
  EXPECT_TRUE(rig.loop.run(rig.store->close()).has_value());
  EXPECT_TRUE(rig.flash->closed);
  EXPECT_EQ(rig.flash->records.size(), 10U);
  EXPECT_EQ(rig.put(50, 1)[0].error().code, Errc::kInvalid);
}

TEST(Store, DestroyedInMidFlightItLeavesNothingDangling) {
  StoreRig rig(both_tiers());
  rig.flash->append_latency = Nanos(1'000'000);
  rig.put(0, 10);
  rig.store.reset();
  rig.state.reset();
  while (rig.loop.spawned_count() > 0) rig.loop.turn();
}

}  // namespace
}  // namespace forebay::store
