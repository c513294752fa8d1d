#include "io/huge_memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "core/bytes.h"

namespace forebay::io {
namespace {

using Map = Result<HugeMemory> (*)(std::size_t);
constexpr Map kMaps[] = {HugeMemory::map, HugeMemory::map_on_demand};

TEST(HugeMemory, IsZeroedAlignedAndAtLeastWhatWasAskedFor) {
  for (const Map map : kMaps) {
    for (const std::size_t size : {std::size_t{1}, 5 * kKiB, 2 * kMiB, 5 * kMiB + 1}) {
      const auto memory = map(size);
      ASSERT_TRUE(memory) << size;
      EXPECT_GE(memory->bytes().size(), size);
      EXPECT_TRUE(is_aligned(memory->bytes().data(), size < 2 * kMiB ? 4 * kKiB : 2 * kMiB));
      EXPECT_TRUE(
          std::ranges::all_of(memory->bytes(), [](std::byte b) { return b == std::byte{}; }));
      std::ranges::fill(memory->bytes(), std::byte{1});
    }
  }
}

TEST(HugeMemory, OnDemandIsRoundedToSmallPagesOnly) {
  EXPECT_EQ(HugeMemory::map_on_demand(5 * kMiB + 1)->bytes().size(), 5 * kMiB + 4 * kKiB);
}

TEST(HugeMemory, NothingIsNothing) {
  for (const Map map : kMaps) EXPECT_TRUE(map(0)->bytes().empty());
}

TEST(HugeMemory, AnAbsurdSizeIsRefusedAtOnce) {
  const auto memory = HugeMemory::map_on_demand(std::size_t{1} << 60);
  ASSERT_FALSE(memory);
  EXPECT_EQ(memory.error().code, Errc::kNoSpace);
}

TEST(HugeMemory, MovesWithItsOwner) {
  auto first = HugeMemory::map_on_demand(kMiB).value();
  const std::byte* at = first.bytes().data();
  const HugeMemory second = std::move(first);
  EXPECT_EQ(second.bytes().data(), at);
  EXPECT_TRUE(first.bytes().empty());  // NOLINT(bugprone-use-after-move)
}

}  // namespace
}  // namespace forebay::io
