#include "store/tier/extents.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <map>
#include <vector>

namespace forebay::store {
namespace {

TEST(Extents, GivesTheWholeArenaAndNotAPageMore) {
  ExtentAllocator extents(64);
  const Extent all = extents.allocate(64);
  ASSERT_NE(all, kNoExtent);
  EXPECT_EQ(extents.free_pages(), 0U);
  EXPECT_EQ(extents.allocate(1), kNoExtent);
  extents.free(all);
  EXPECT_NE(extents.allocate(64), kNoExtent);
}

TEST(Extents, JoinsFreedNeighboursInAnyOrder) {
  for (const auto& order : std::vector<std::vector<int>>{{0, 1, 2}, {2, 1, 0}, {0, 2, 1}}) {
    ExtentAllocator extents(30);
    const std::vector<Extent> parts{extents.allocate(10), extents.allocate(10),
                                    extents.allocate(10)};
    for (const int part : order) extents.free(parts[static_cast<std::size_t>(part)]);
    EXPECT_NE(extents.allocate(30), kNoExtent);
  }
}

TEST(Extents, AnEmptyArenaGivesNothing) {
  ExtentAllocator extents(0);
  EXPECT_EQ(extents.allocate(1), kNoExtent);
}

// The oracle is a map from first page to length of what is handed out.
void check_against_map(const std::vector<std::pair<bool, std::uint32_t>>& steps) {
  constexpr std::uint32_t kPages = 200;
  ExtentAllocator extents(kPages);
  std::map<std::uint32_t, std::pair<std::uint32_t, Extent>> held;
  std::uint32_t held_pages = 0;
  const auto longest_gap = [&] {
    std::uint32_t longest = 0;
    std::uint32_t end = 0;
    for (const auto& [first, what] : held) {
      longest = std::max(longest, first - end);
      end = first + what.first;
    }
    return std::max(longest, kPages - end);
  };
  for (const auto& [take, number] : steps) {
    if (take || held.empty()) {
      const std::uint32_t pages = number % 40 + 1;
      const Extent got = extents.allocate(pages);
      if (got == kNoExtent) {
        // Good fit, not best fit: it may refuse only what has no clearly longer gap.
        RC_ASSERT(longest_gap() < pages + pages / 8 + 1);
        continue;
      }
      const std::uint32_t first = extents.first_page(got);
      RC_ASSERT(extents.page_count(got) == pages);
      RC_ASSERT(first + pages <= kPages);
      const auto next = held.lower_bound(first);
      const bool clear_behind = next == held.end() || first + pages <= next->first;
      const bool clear_before =
          next == held.begin() || std::prev(next)->first + std::prev(next)->second.first <= first;
      RC_ASSERT(clear_behind);
      RC_ASSERT(clear_before);
      held[first] = {pages, got};
      held_pages += pages;
    } else {
      const auto at = std::next(held.begin(), number % held.size());
      held_pages -= at->second.first;
      extents.free(at->second.second);
      held.erase(at);
    }
    RC_ASSERT(extents.free_pages() == kPages - held_pages);
  }
  for (const auto& [first, what] : held) extents.free(what.second);
  RC_ASSERT(extents.allocate(kPages) != kNoExtent);
}

TEST(Extents, NeverOverlapNeverLosePagesAlwaysCoalesce) {
  ASSERT_TRUE(rc::check("extents against a map", [] {
    check_against_map(*rc::gen::container<std::vector<std::pair<bool, std::uint32_t>>>(
        rc::gen::pair(rc::gen::arbitrary<bool>(), rc::gen::inRange<std::uint32_t>(0, 100000))));
  }));
}

}  // namespace
}  // namespace forebay::store
