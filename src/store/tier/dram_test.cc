#include "store/tier/dram.h"

#include <gtest/gtest.h>

#include <cstring>

#include "core/bytes.h"

namespace forebay::store {
namespace {

std::unique_ptr<DramTier> tier_of(std::uint64_t bytes) {
  auto tier = DramTier::make(bytes);
  EXPECT_TRUE(tier.has_value());
  return std::move(tier).value();
}

TEST(DramTier, HoldsItsHardLimitInWholePages) {
  const auto tier = tier_of(16 * 4096 + 100);
  EXPECT_EQ(tier->capacity_bytes(), 16U * 4096);
  for (int i = 0; i < 8; ++i) ASSERT_NE(tier->allocate(4097), kNoDramBlock);
  EXPECT_EQ(tier->used_bytes(), tier->capacity_bytes());
  EXPECT_EQ(tier->allocate(1), kNoDramBlock);
}

TEST(DramTier, BlocksAreAlignedForDirectIoAndInsideTheArena) {
  const auto tier = tier_of(kMiB);
  const iovec arena = tier->arena();
  EXPECT_TRUE(is_aligned(arena.iov_base, 2 * kMiB));
  for (int i = 0; i < 10; ++i) {
    const auto bytes = tier->bytes(tier->allocate(5000));
    EXPECT_TRUE(is_aligned(bytes.data(), 4096));
    EXPECT_GE(bytes.data(), static_cast<std::byte*>(arena.iov_base));
    EXPECT_LE(bytes.data() + bytes.size(), static_cast<std::byte*>(arena.iov_base) + kMiB);
    std::memset(bytes.data(), i, bytes.size());
  }
}

TEST(DramTier, ADroppedBlockStaysWhileItIsPinned) {
  const auto tier = tier_of(4096);
  const DramBlock block = tier->allocate(4096);
  {
    DramTier::Pin pin(tier.get(), block);
    tier->drop(block);
    EXPECT_EQ(tier->allocate(1), kNoDramBlock);
    DramTier::Pin moved = std::move(pin);
    EXPECT_EQ(tier->block_count(), 1U);
  }
  EXPECT_EQ(tier->block_count(), 0U);
  EXPECT_NE(tier->allocate(1), kNoDramBlock);
}

TEST(DramTier, EachLifeOfABlockNumberHasItsOwnGeneration) {
  const auto tier = tier_of(4096);
  const DramBlock first = tier->allocate(10);
  const std::uint32_t generation = tier->header(first).generation;
  tier->drop(first);
  const DramBlock second = tier->allocate(10);
  ASSERT_EQ(first, second);
  EXPECT_NE(tier->header(second).generation, generation);
}

TEST(DramTier, RefusesASizeThatNoArenaCanHave) {
  EXPECT_EQ(DramTier::make(4095).error().code, Errc::kInvalid);
  EXPECT_EQ(DramTier::make(~std::uint64_t{0}).error().code, Errc::kInvalid);
  EXPECT_EQ(DramTier::make(std::uint64_t{1} << 43).error().code, Errc::kNoSpace);
}

TEST(DramTierDeathTest, DroppingTwiceIsCaught) {
  const auto tier = tier_of(8192);
  const DramBlock block = tier->allocate(10);
  tier->drop(block);
  EXPECT_DEATH(tier->drop(block), "state");
}

}  // namespace
}  // namespace forebay::store
