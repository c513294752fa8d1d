#include "store/tier/flash_health.h"

#include <gtest/gtest.h>

#include "core/bytes.h"

namespace forebay::store {
namespace {

using std::chrono::hours;

block::Request outcome(block::RequestKind kind, Result<std::size_t> done) {
  block::Request request;
  request.kind = kind;
  request.done_bytes = done;
  return request;
}

TEST(FlashHealth, EachFailureLeadsToItsMode) {
  struct Case {
    block::RequestKind kind;
    Errc code;
    FlashMode mode;
  };
  const Case cases[] = {
      {block::RequestKind::kWrite, Errc::kNoSpace, FlashMode::kReadOnly},
      {block::RequestKind::kWrite, Errc::kReadOnly, FlashMode::kReadOnly},
      {block::RequestKind::kFlush, Errc::kReadOnly, FlashMode::kReadOnly},
      {block::RequestKind::kWrite, Errc::kExists, FlashMode::kReadOnly},
      {block::RequestKind::kWrite, Errc::kGone, FlashMode::kGone},
      {block::RequestKind::kRead, Errc::kGone, FlashMode::kGone},
      {block::RequestKind::kRead, Errc::kIo, FlashMode::kReadWrite},
      {block::RequestKind::kWrite, Errc::kIo, FlashMode::kReadWrite},
      {block::RequestKind::kWrite, Errc::kTimedOut, FlashMode::kReadWrite},
  };
  for (const Case& one : cases) {
    FlashHealth health;
    health.note(outcome(one.kind, fail(one.code, "test")));
    EXPECT_EQ(health.mode(), one.mode) << to_string(one.code);
    EXPECT_EQ(health.reason().empty(), one.mode == FlashMode::kReadWrite);
    EXPECT_EQ(health.may_write().has_value(), one.mode == FlashMode::kReadWrite);
  }
}

TEST(FlashHealth, WritesThatFailInARowTurnItReadOnly) {
  FlashHealth health;
  const auto bad = outcome(block::RequestKind::kWrite, fail(Errc::kIo, "test"));
  const auto good = outcome(block::RequestKind::kWrite, std::size_t{1});
  health.note(bad);
  health.note(bad);
  health.note(good);
  health.note(bad);
  health.note(bad);
  EXPECT_EQ(health.mode(), FlashMode::kReadWrite);
  health.note(bad);
  EXPECT_EQ(health.mode(), FlashMode::kReadOnly);
  health.recover();
  EXPECT_EQ(health.mode(), FlashMode::kReadWrite);
  EXPECT_TRUE(health.may_write());
}

TEST(FlashHealth, GoneIsNotHiddenByARefusedWrite) {
  FlashHealth health;
  int changes = 0;
  health.on_change([&changes] { ++changes; });
  health.note(outcome(block::RequestKind::kRead, fail(Errc::kGone, "test")));
  health.note(outcome(block::RequestKind::kWrite, fail(Errc::kReadOnly, "test")));
  EXPECT_EQ(health.mode(), FlashMode::kGone);
  EXPECT_EQ(health.may_write().error().code, Errc::kGone);
  EXPECT_EQ(changes, 1);
}

TEST(WearMeter, AllowsADaysBurstThenTheRate) {
  WearMeter wear(kTiB, 2.0, Nanos{0});
  wear.add(2 * kTiB, Nanos{0});
  EXPECT_FALSE(wear.exceeded(Nanos{0}));
  wear.add(kGiB, Nanos{0});
  EXPECT_TRUE(wear.exceeded(Nanos{0}));
  // It opens again when a twentieth has leaked, not at once: 2 TiB a day leak 0.1 TiB in 1.2 h.
  EXPECT_TRUE(wear.exceeded(hours(1)));
  EXPECT_FALSE(wear.exceeded(hours(2)));
}

TEST(WearMeter, MeasuresDriveWritesPerDay) {
  WearMeter wear(kTiB, 0, Nanos{0});
  EXPECT_EQ(wear.drive_writes_per_day(Nanos{0}), 0);
  wear.add(3 * kTiB, hours(1));
  EXPECT_NEAR(wear.drive_writes_per_day(hours(48)), 1.5, 1e-9);
  EXPECT_FALSE(wear.exceeded(hours(1)));
}

TEST(WearMeter, KeepsItsLevelOverARestart) {
  WearMeter before(kTiB, 1.0, Nanos{0});
  before.add(kTiB, Nanos{0});
  WearMeter after(kTiB, 1.0, Nanos{0});
  after.restore(before.level_bytes(Nanos{0}));
  after.add(kGiB, Nanos{0});
  EXPECT_TRUE(after.exceeded(Nanos{0}));
}

TEST(FlashHealth, AWornDeviceTakesNoWritesUntilTheMeterSaysSo) {
  FlashHealth health;
  health.note_wear(true);
  EXPECT_EQ(health.may_write().error().code, Errc::kReadOnly);
  health.note_wear(false);
  EXPECT_TRUE(health.may_write());
}

}  // namespace
}  // namespace forebay::store
