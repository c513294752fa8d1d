#include "io/huge_memory.h"

#include <gtest/gtest.h>
#include <linux/mempolicy.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>
#include <vector>

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

std::size_t resident_pages(const HugeMemory& memory) {
  std::vector<unsigned char> pages(memory.bytes().size() / (4 * kKiB));
  EXPECT_EQ(::mincore(memory.bytes().data(), memory.bytes().size(), pages.data()), 0);
  return static_cast<std::size_t>(
      std::ranges::count_if(pages, [](auto p) { return (p & 1) != 0; }));
}

TEST(HugeMemory, PagesComeOnDemandOrAtOnce) {
  auto memory = HugeMemory::map_on_demand(5 * kMiB).value();
  EXPECT_EQ(resident_pages(memory), 0U);
  memory.bytes().back() = std::byte{7};
  ASSERT_TRUE(memory.populate().has_value());
  EXPECT_EQ(resident_pages(memory), 5 * kMiB / (4 * kKiB));
  EXPECT_EQ(memory.bytes().back(), std::byte{7});
}

TEST(HugeMemory, PrefersTheNodeOfWhoMapsIt) {
  for (const Map map : kMaps) {
    for (const std::size_t size : {4 * kKiB, 5 * kMiB}) {
      const auto memory = map(size).value();
      unsigned node = 0;
      ASSERT_EQ(::syscall(SYS_getcpu, nullptr, &node, nullptr), 0);
      int mode = -1;
      std::array<unsigned long, 16> nodes{};
      const long rc = ::syscall(SYS_get_mempolicy, &mode, nodes.data(), 1024UL,
                                memory.bytes().data(), static_cast<unsigned long>(MPOL_F_ADDR));
      if (rc != 0 && errno == ENOSYS) GTEST_SKIP() << "this kernel is built without NUMA";
      ASSERT_EQ(rc, 0);
      EXPECT_EQ(mode, MPOL_PREFERRED);
      EXPECT_EQ(nodes[node / 64] >> (node % 64) & 1, 1U);
    }
  }
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
