// What open() finds: after clean stops, with damage of every structure, on the wrong device.
#include <gtest/gtest.h>

#include <numeric>

#include "store/tier/flash_layout.h"
#include "store/tier/flash_rig.h"

namespace forebay::store {
namespace {

constexpr std::uint64_t kDeviceBytes = 8 << 20;
constexpr std::uint64_t kPageBytes = 4096;

std::vector<std::uint64_t> numbers(std::uint64_t first, std::size_t count) {
  std::vector<std::uint64_t> all(count);
  std::iota(all.begin(), all.end(), first);
  return all;
}

RigOptions options_of(std::uint64_t device_bytes = kDeviceBytes) {
  RigOptions options;
  options.device_bytes = device_bytes;
  return options;
}

FlashLayout layout_of(std::uint64_t device_bytes = kDeviceBytes) {
  block::Geometry geometry;
  geometry.size_bytes = device_bytes;
  geometry.align_bytes = kPageBytes;
  return make_flash_layout(geometry, 128 << 10).value();
}

Status stop(FlashRig& rig) { return rig.loop->run(rig.tier->close()); }

// Flips a byte in each of `count` sectors from `offset_bytes` on.
void damage(FlashRig& rig, std::uint64_t offset_bytes, std::size_t count = 1) {
  for (std::size_t i = 0; i < count; ++i) {
    rig.file().corrupt(offset_bytes + i * 512 + 9, std::byte{0xff});
  }
}

TEST(FlashOpen, ADeviceWithoutAStoreIsRefusedUnlessFormatWasAskedFor) {
  FlashRig rig;
  rig.options().flash.format = false;
  EXPECT_EQ(rig.open().error().code, Errc::kCorrupt);
  rig.options().flash.format = true;
  EXPECT_TRUE(rig.open());
}

TEST(FlashOpen, AStoreIsNeverFormattedAway) {
  FlashRig rig(options_of());
  ASSERT_TRUE(rig.open());
  (void)rig.append(1, 4, 16384);
  ASSERT_TRUE(rig.reopen());  // with format still asked for
  EXPECT_EQ(rig.read(numbers(1, 4)).good, 4U);
  // Both superblocks damaged: still somebody's store.
  rig.power_off();
  damage(rig, kSuperblockOffsets[0] + 16);
  damage(rig, kSuperblockOffsets[1] + 16);
  rig.power_on();
  EXPECT_EQ(rig.open().error().code, Errc::kCorrupt);
}

TEST(FlashOpen, EitherSuperblockIsEnoughAndTheOtherIsRepaired) {
  for (const int damaged : {0, 1}) {
    FlashRig rig(options_of());
    ASSERT_TRUE(rig.open());
    (void)rig.append(1, 4, 16384);
    rig.power_off();
    damage(rig, kSuperblockOffsets[damaged] + 16);
    rig.power_on();
    ASSERT_TRUE(rig.open());
    EXPECT_EQ(rig.read(numbers(1, 4)).good, 4U);
    rig.power_off();
    damage(rig, kSuperblockOffsets[1 - damaged] + 16);
    rig.power_on();
    ASSERT_TRUE(rig.open()) << "copy " << damaged << " was repaired";
    EXPECT_EQ(rig.owner->known.size(), 4U);
  }
}

TEST(FlashOpen, ASmallerDeviceThanTheStoresIsRefused) {
  auto disk = std::make_shared<io::SimDisk>();
  FlashRig rig(options_of());
  ASSERT_TRUE(rig.open());
  rig.power_off();
  rig.file().size_bytes = kDeviceBytes / 2;
  rig.options().device_bytes = kDeviceBytes / 2;
  rig.power_on();
  EXPECT_EQ(rig.open().error().code, Errc::kCorrupt);
}

TEST(FlashOpen, ADeviceTooSmallIsRefused) {
  FlashRig rig(options_of(128 << 10));
  EXPECT_EQ(rig.open().error().code, Errc::kNoSpace);
}

TEST(FlashOpen, EndsInTimeOnAStuckDevice) {
  FlashRig rig(options_of());
  rig.options().flash.open_within = std::chrono::milliseconds(10);
  rig.engine->faults().add({.kind = io::FaultKind::kStuck});
  const Nanos before = rig.loop->now();
  EXPECT_EQ(rig.open().error().code, Errc::kTimedOut);
  EXPECT_EQ(rig.loop->now() - before, std::chrono::milliseconds(10));
}

TEST(FlashOpen, AVanishedDeviceIsGone) {
  FlashRig rig(options_of());
  ASSERT_TRUE(rig.open());
  rig.power_off();
  rig.power_on();
  rig.engine->set_vanished(true);
  EXPECT_EQ(rig.open().error().code, Errc::kGone);
}

TEST(FlashRecovery, AfterACleanStopNothingIsScanned) {
  FlashRig rig(options_of());
  ASSERT_TRUE(rig.open());
  (void)rig.append(1, 100, 16384);
  ASSERT_TRUE(stop(rig));
  ASSERT_TRUE(rig.reopen());
  EXPECT_EQ(rig.owner->known.size(), 100U);
  EXPECT_EQ(rig.read(numbers(1, 100)).good, 100U);
  // Writing goes on in the segment that was open.
  const std::uint64_t free = rig.tier->stats().free_segment_count;
  (void)rig.append(200, 1, 4096);
  EXPECT_EQ(rig.tier->stats().free_segment_count, free);
}

TEST(FlashRecovery, AfterACrashTheOpenSegmentIsSealedAndANewOneBegun) {
  FlashRig rig(options_of());
  ASSERT_TRUE(rig.open());
  (void)rig.append(1, 3, 16384);
  ASSERT_TRUE(rig.reopen());
  const std::uint64_t free = rig.tier->stats().free_segment_count;
  (void)rig.append(200, 1, 4096);
  EXPECT_EQ(rig.tier->stats().free_segment_count, free - 1);
  rig.drain();
  // The first open sealed it; the second finds both.
  ASSERT_TRUE(rig.reopen());
  EXPECT_EQ(rig.owner->known.size(), 4U);
}

TEST(FlashRecovery, ADamagedSummaryCostsAScanNotABlock) {
  FlashRig rig(options_of());
  ASSERT_TRUE(rig.open());
  (void)rig.append(1, 200, 16384);
  ASSERT_TRUE(stop(rig));
  rig.power_off();
  const FlashLayout layout = layout_of();
  for (std::uint32_t i = 0; i < layout.segment_count; ++i) {
    // Odd segments lose the footer, even ones the body before it.
    const std::uint64_t end = layout.offset_of(layout.segment_page(i)) + layout.segment_bytes;
    damage(rig, end - (i % 2 == 0 ? 2 : 1) * kPageBytes, 8);
  }
  rig.power_on();
  ASSERT_TRUE(rig.open());
  EXPECT_EQ(rig.owner->known.size(), 200U);
  EXPECT_EQ(rig.read(numbers(1, 200)).good, 200U);
}

TEST(FlashRecovery, ADamagedSegmentHeaderCostsNothing) {
  FlashRig rig(options_of());
  ASSERT_TRUE(rig.open());
  (void)rig.append(1, 200, 16384);
  rig.drain();
  rig.power_off();
  const FlashLayout layout = layout_of();
  for (std::uint32_t i = 0; i < layout.segment_count; ++i) {
    damage(rig, layout.offset_of(layout.segment_page(i)));
  }
  rig.power_on();
  ASSERT_TRUE(rig.open());
  EXPECT_EQ(rig.read(numbers(1, 200)).good, 200U);
}

TEST(FlashRecovery, DamagedCheckpointsCostTheNewestHeatOnly) {
  FlashRig rig(options_of());
  ASSERT_TRUE(rig.open());
  (void)rig.append(1, 50, 16384);
  ASSERT_TRUE(stop(rig));
  rig.power_off();
  const FlashLayout layout = layout_of();
  damage(rig, layout.offset_of(layout.area_page(0)), 2ULL * layout.area_pages * 8);
  rig.power_on();
  ASSERT_TRUE(rig.open());
  EXPECT_EQ(rig.read(numbers(1, 50)).good, 50U);
}

TEST(FlashRecovery, HeatIsThatOfTheLastCheckpoint) {
  FlashRig rig(options_of());
  ASSERT_TRUE(rig.open());
  (void)rig.append(1, 100, 16384);
  rig.drain();
  for (std::uint64_t n = 1; n <= 100; ++n) {
    rig.owner->known[rig_id(n)].heat = static_cast<std::uint32_t>(1000 + n);
  }
  ASSERT_TRUE(rig.loop->run(rig.tier->checkpoint()));
  for (std::uint64_t n = 1; n <= 100; ++n) rig.owner->known[rig_id(n)].heat = 5;
  ASSERT_TRUE(rig.reopen());  // a crash: the 5 was never written
  for (std::uint64_t n = 1; n <= 100; ++n) {
    EXPECT_EQ(rig.owner->known[rig_id(n)].heat, 1000 + n) << n;
  }
  // Checkpoints take turns in two places; the third overwrites the first.
  for (std::uint32_t round = 2; round < 5; ++round) {
    for (std::uint64_t n = 1; n <= 100; ++n) rig.owner->known[rig_id(n)].heat = round;
    ASSERT_TRUE(rig.loop->run(rig.tier->checkpoint()));
    ASSERT_TRUE(rig.reopen());
    EXPECT_EQ(rig.owner->known[rig_id(1)].heat, round);
    EXPECT_EQ(rig.owner->known[rig_id(100)].heat, round);
  }
}

TEST(FlashRecovery, TheWearLimitTurnsItReadOnlyAndARestartDoesNotHelp) {
  FlashRig rig(options_of());
  rig.options().flash.drive_writes_per_day_max = 1.0;
  ASSERT_TRUE(rig.open());
  // The device's size may be written in one go, then no more for today.
  std::uint64_t first = 1;
  while (rig.append(first, 4, 16384)[3]) first += 4;
  EXPECT_EQ(rig.tier->stats().mode, FlashMode::kReadOnly);
  EXPECT_FALSE(rig.tier->stats().mode_reason.empty());
  EXPECT_GT(rig.tier->stats().device_written_bytes, rig.tier->stats().capacity_bytes);
  EXPECT_EQ(rig.read({first - 4}).good, 1U) << "reads go on";
  ASSERT_TRUE(stop(rig));
  ASSERT_TRUE(rig.reopen());
  EXPECT_FALSE(rig.append(first, 1, 16384)[0]);
}

TEST(FlashRecovery, TheNewerOfTwoCopiesIsTheOneThatCounts) {
  // The second stands in the same segment, in the next, in a later one.
  for (const std::size_t between : {0U, 6U, 60U}) {
    FlashRig rig(options_of());
    ASSERT_TRUE(rig.open());
    (void)rig.append(1, 1, 5000);
    if (between > 0) (void)rig.append(100, between, 16384);
    (void)rig.append(1, 1, 6000);  // the same block again, as after an eviction
    const FlashPage newer = rig.owner->known[rig_id(1)].page;
    (void)rig.append(200, 40, 16384);
    ASSERT_TRUE(rig.reopen());
    EXPECT_EQ(rig.owner->known[rig_id(1)].page, newer) << between;
    EXPECT_EQ(rig.owner->known[rig_id(1)].data_bytes, 6000U);
  }
}

TEST(FlashForget, ADurablyForgottenBlockStaysAwayAndComesBackWhenAppendedAgain) {
  FlashRig rig(options_of());
  ASSERT_TRUE(rig.open());
  (void)rig.append(1, 10, 16384);
  for (const std::uint64_t n : {3ULL, 4ULL}) {
    const auto known = rig.owner->known[rig_id(n)];
    ASSERT_TRUE(rig.loop->run(rig.tier->forget(rig_id(n), known.page, known.data_bytes, true)));
  }
  (void)rig.append(4, 1, 16384);
  ASSERT_TRUE(rig.reopen());
  EXPECT_FALSE(rig.owner->known.contains(rig_id(3)));
  EXPECT_EQ(rig.read({4, 5}).good, 2U);
  // Also when all of it comes from summaries and a checkpoint.
  ASSERT_TRUE(stop(rig));
  ASSERT_TRUE(rig.reopen());
  EXPECT_FALSE(rig.owner->known.contains(rig_id(3)));
  EXPECT_EQ(rig.read({4, 5}).good, 2U);
}

Task<void> forget_all(FlashRig* rig, std::vector<std::uint64_t> which, std::size_t* good) {
  std::vector<Task<Status>> calls;
  for (const std::uint64_t n : which) {
    const auto known = rig->owner->known[rig_id(n)];
    calls.push_back(rig->tier->forget(rig_id(n), known.page, known.data_bytes, true));
    rig->owner->known.erase(rig_id(n));
  }
  for (auto& call : calls) call.start();
  for (auto& call : calls) *good += (co_await call).has_value();
}

TEST(FlashForget, ManyAtOnceShareARecordAndOutliveReclaim) {
  FlashRig rig(options_of(4 << 20));
  ASSERT_TRUE(rig.open());
  (void)rig.append(1, 40, 4096);
  rig.drain();  // seals
  const std::uint64_t before = rig.tier->stats().device_written_bytes;
  std::size_t good = 0;
  rig.loop->run(forget_all(&rig, numbers(1, 30), &good));
  EXPECT_EQ(good, 30U);
  EXPECT_LE(rig.tier->stats().device_written_bytes - before, 5 * kPageBytes);
  for (std::uint64_t first = 100; first < 600; first += 10) (void)rig.append(first, 10, 16384);
  ASSERT_TRUE(rig.reopen());
  for (std::uint64_t n = 1; n <= 30; ++n) EXPECT_FALSE(rig.owner->known.contains(rig_id(n))) << n;
}

TEST(FlashForget, EndsAtItsDeadline) {
  FlashRig rig(options_of());
  ASSERT_TRUE(rig.open());
  (void)rig.append(1, 1, 4096);
  rig.engine->faults().add({.kind = io::FaultKind::kStuck, .op = io::OpKind::kWrite});
  const auto known = rig.owner->known[rig_id(1)];
  FlashCall call;
  call.io.deadline = rig.loop->now() + std::chrono::milliseconds(4);
  EXPECT_EQ(rig.loop->run(rig.tier->forget(rig_id(1), known.page, known.data_bytes, true, call))
                .error()
                .code,
            Errc::kTimedOut);
  rig.drain();
}

}  // namespace
}  // namespace forebay::store
