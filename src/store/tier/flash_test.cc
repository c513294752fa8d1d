#include "store/tier/flash.h"

#include <gtest/gtest.h>

#include <numeric>

#include "store/tier/flash_rig.h"

namespace forebay::store {
namespace {

std::vector<std::uint64_t> numbers(std::uint64_t first, std::size_t count) {
  std::vector<std::uint64_t> all(count);
  std::iota(all.begin(), all.end(), first);
  return all;
}

std::size_t count_good(const std::vector<Status>& statuses) {
  return static_cast<std::size_t>(
      std::ranges::count_if(statuses, [](const Status& s) { return s.has_value(); }));
}

TEST(FlashTier, ReturnsWhatWasAppended) {
  FlashRig rig;
  ASSERT_TRUE(rig.open());
  EXPECT_EQ(count_good(rig.append(1, 8, 16384)), 8U);
  const auto got = rig.read(numbers(1, 8));
  EXPECT_EQ(got.good, 8U);
  EXPECT_EQ(got.wrong, 0U);
}

TEST(FlashTier, KeepsBlocksOfAnyLength) {
  FlashRig rig;
  ASSERT_TRUE(rig.open());
  const std::vector<std::uint32_t> lengths{0, 1, 511, 4095, 4096, 4097, 12345, 40960};
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    EXPECT_EQ(count_good(rig.append(100 + i, 1, lengths[i])), 1U) << lengths[i];
  }
  const auto got = rig.read(numbers(100, lengths.size()));
  EXPECT_EQ(got.good, lengths.size());
  EXPECT_EQ(got.wrong, 0U);
}

TEST(FlashTier, FindsEverythingAgainAfterTheProcessIsKilled) {
  FlashRig rig;
  ASSERT_TRUE(rig.open());
  EXPECT_EQ(count_good(rig.append(1, 30, 16384)), 30U);
  ASSERT_TRUE(rig.reopen());
  EXPECT_EQ(rig.owner->known.size(), 30U);
  EXPECT_EQ(rig.owner->known[rig_id(7)].parent, rig_id(6));
  EXPECT_EQ(rig.owner->known[rig_id(7)].tenant, "tenant");
  EXPECT_EQ(rig.owner->known[rig_id(7)].layout, "layout");
  EXPECT_EQ(rig.owner->known[rig_id(7)].token_count, 16U);
  EXPECT_EQ(rig.owner->known[rig_id(7)].chain_depth, 6U);
  const auto got = rig.read(numbers(1, 30));
  EXPECT_EQ(got.good, 30U);
  EXPECT_EQ(got.wrong, 0U);
}

TEST(FlashTier, GoesOnWhenFullByReclaimingSegments) {
  FlashRig rig;
  ASSERT_TRUE(rig.open());
  const std::uint64_t capacity = rig.tier->stats().capacity_bytes;
  std::uint64_t written = 0;
  for (std::uint64_t first = 1; written < 4 * capacity; first += 4) {
    ASSERT_EQ(count_good(rig.append(first, 4, 16384)), 4U) << first;
    written += 4 * 16384;
  }
  const FlashStats stats = rig.tier->stats();
  EXPECT_GT(stats.reclaimed_segments, 2 * stats.segment_count);
  EXPECT_LE(stats.live_bytes, stats.capacity_bytes);
  EXPECT_GT(rig.owner->known.size(), capacity / 2 / 20480);
  std::vector<std::uint64_t> all;
  for (std::uint64_t n = 1; n < written / 16384; ++n) {
    if (rig.owner->known.contains(rig_id(n))) all.push_back(n);
  }
  const auto got = rig.read(all);
  for (const Status& status : got.statuses) EXPECT_TRUE(status) << to_string(status.error());
  EXPECT_EQ(got.good, all.size());
  EXPECT_EQ(got.wrong, 0U);
}

}  // namespace
}  // namespace forebay::store
