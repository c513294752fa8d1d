// Reclaim: what is kept, what it costs, and that demand reads do not wait for it.
#include <gtest/gtest.h>

#include <numeric>

#include "store/tier/flash_rig.h"

namespace forebay::store {
namespace {

// Segments of 128 KiB: five records of 20 KiB each, so that a quarter of one is a whole record.
RigOptions small_device() {
  RigOptions options;
  options.device_bytes = 8 << 20;
  return options;
}

// Appends fresh blocks, four at a time, until `bytes` were asked for.
std::uint64_t churn(FlashRig& rig, std::uint64_t first, std::uint64_t bytes) {
  const std::uint64_t end = first + bytes / 16384;
  for (; first < end; first += 4) (void)rig.append(first, 4, 16384);
  return first;
}

TEST(FlashReclaim, BlocksOfHighWorthOutliveManyTurnoversOfTheDevice) {
  FlashRig rig(small_device());
  ASSERT_TRUE(rig.open());
  // One of five: as many as the copies of a reclaimed segment can be.
  for (std::uint64_t n = 1; n <= 200; ++n) {
    if (n % 10 == 0) rig.owner->worths[rig_id(n)] = 1000;
    (void)rig.append(n, 1, 16384);
  }
  (void)churn(rig, 1000, 5 * rig.tier->stats().capacity_bytes);
  std::size_t kept = 0;
  for (std::uint64_t n = 10; n <= 200; n += 10) kept += rig.owner->known.contains(rig_id(n));
  EXPECT_GE(kept, 19U) << "of 20";
  EXPECT_GT(rig.owner->moved, 20U);
  std::size_t others = 0;
  for (std::uint64_t n = 1; n <= 200; ++n) {
    others += n % 10 != 0 && rig.owner->known.contains(rig_id(n));
  }
  EXPECT_LE(others, 20U) << "of 180";
}

TEST(FlashReclaim, WorthlessBlocksAreNotMoved) {
  FlashRig rig(small_device());
  ASSERT_TRUE(rig.open());
  for (std::uint64_t n = 1; n < 3000; ++n) rig.owner->worths[rig_id(n)] = 0;
  (void)churn(rig, 1, 4 * rig.tier->stats().capacity_bytes);
  EXPECT_EQ(rig.owner->moved, 0U);
  EXPECT_GT(rig.owner->dropped_ids.size(), 500U);
}

TEST(FlashReclaim, WriteAmplificationStaysWithinWhatMovesAreAllowed) {
  FlashRig rig(small_device());
  ASSERT_TRUE(rig.open());
  (void)churn(rig, 1, 8 * rig.tier->stats().capacity_bytes);
  const FlashStats stats = rig.tier->stats();
  // Copies: at most a quarter of each reclaimed segment, so a third on top of the host's; headers,
  // summaries and padding: a quarter on records of four pages.
  const double amplification = static_cast<double>(stats.device_written_bytes) /
                               static_cast<double>(stats.host_written_bytes);
  EXPECT_LT(amplification, (1 + 1.0 / 3) * 1.4);
  EXPECT_LE(stats.moved_bytes * 3, stats.host_written_bytes + stats.capacity_bytes);
}

TEST(FlashReclaim, ForgottenBlocksMakeSegmentsThatCostNothing) {
  FlashRig rig(small_device());
  ASSERT_TRUE(rig.open());
  const std::uint64_t blocks = rig.tier->stats().capacity_bytes / 20480 * 2 / 3;
  (void)churn(rig, 1, blocks * 16384);
  // The first half is forgotten: its segments go, and nothing that is wanted is lost.
  for (std::uint64_t n = 1; n <= blocks / 2; ++n) {
    const auto known = rig.owner->known[rig_id(n)];
    rig.owner->known.erase(rig_id(n));
    ASSERT_TRUE(rig.loop->run(rig.tier->forget(rig_id(n), known.page, known.data_bytes, false)));
  }
  (void)churn(rig, 10'000, blocks / 2 * 16384);
  EXPECT_LE(rig.owner->dropped_ids.size(), 5U);
  EXPECT_EQ(rig.tier->stats().mode, FlashMode::kReadWrite);
}

TEST(FlashReclaim, NeverHoldsMoreThanTheDevice) {
  FlashRig rig(small_device());
  ASSERT_TRUE(rig.open());
  for (int round = 0; round < 6; ++round) {
    (void)churn(rig, static_cast<std::uint64_t>(round) * 10'000 + 1, 2 << 20);
    const FlashStats stats = rig.tier->stats();
    EXPECT_LE(stats.live_bytes, stats.capacity_bytes);
    EXPECT_LE(rig.owner->known.size() * 20480, stats.capacity_bytes);
    // The tier's count of what lives is the owner's, exactly: all blocks are of one size.
    EXPECT_EQ(stats.live_bytes, rig.owner->known.size() * 20480);
  }
}

TEST(FlashReclaim, ASegmentInUseByAStuckReadIsNotReused) {
  FlashRig rig(small_device());
  ASSERT_TRUE(rig.open());
  (void)churn(rig, 1, 1 << 20);
  rig.drain();
  auto memory = std::make_shared<FlashRig::Lent>(16384);
  FlashRead item;
  item.page = rig.owner->known[rig_id(1)].page;
  item.id = rig_id(1);
  item.data_bytes = 16384;
  item.data = {{&memory->piece, 1}, memory};
  rig.engine->faults().add({.kind = io::FaultKind::kStuck, .op = io::OpKind::kRead, .count = 1});
  FlashCall call;
  call.io.deadline = rig.loop->now() + std::chrono::milliseconds(1);
  rig.loop->run(rig.tier->read({&item, 1}, call));
  EXPECT_FALSE(item.status);
  // The device still owes that read while everything is overwritten many times.
  (void)churn(rig, 10'000, 3 * rig.tier->stats().capacity_bytes);
  std::vector<std::byte> expected(16384);
  rig_fill(expected, 1);
  rig.drain();
  EXPECT_TRUE(std::ranges::equal(memory->bytes(), expected)) << "what it read was the old block";
}

TEST(FlashReclaim, DemandReadsHardlyWaitForIt) {
  RigOptions options = small_device();
  options.device_bytes = 64 << 20;
  FlashRig rig(options);
  ASSERT_TRUE(rig.open());
  std::uint64_t first = churn(rig, 1, 50 << 20);
  const auto read_time = [&rig](std::uint64_t number) {
    const Nanos before = rig.loop->now();
    EXPECT_EQ(rig.read({number}).good, 1U);
    return rig.loop->now() - before;
  };
  Nanos quiet{0};
  for (int i = 0; i < 20; ++i) quiet = std::max(quiet, read_time(first - 1));
  Nanos busy{0};
  const std::uint64_t reclaimed = rig.tier->stats().reclaimed_segments;
  for (int i = 0; i < 300; ++i) {
    (void)rig.append(first, 8, 16384);
    first += 8;
    busy = std::max(busy, read_time(first - 1));
  }
  EXPECT_GT(rig.tier->stats().reclaimed_segments, reclaimed + 10);
  // One batch of copies on the wire (8 MiB at 3 GB/s is 2.8 ms) is the most that can be ahead.
  EXPECT_LT(busy, quiet + std::chrono::microseconds(3500));
}

}  // namespace
}  // namespace forebay::store
