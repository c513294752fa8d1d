#include "store/walk_order.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "core/bytes.h"
#include "core/rng.h"
#include "store/key.h"

namespace forebay::store {
namespace {

BlockId number_id(std::uint64_t number) { return make_block_id({"t", "l"}, bytes_of(number)); }

Slot add(Index& index, std::uint64_t number, Slot parent, bool present) {
  const Slot slot = index.insert(number_id(number));
  index.set_parent(slot, parent);
  if (present) index.entry(slot).flash_page = 1;
  if (!present) index.entry(slot).set(EntryFlag::kHeld);  // a ghost that stays
  return slot;
}

TEST(WalkOrder, AnEmptyIndexEndsAtOnce) {
  const Index index;
  WalkOrder order(index);
  EXPECT_EQ(order.next(), kNoSlot);
  EXPECT_EQ(order.next(), kNoSlot);
}

TEST(WalkOrder, AChainInsertedLeafFirstIsToldFromItsRoot) {
  Index index;
  std::vector<Slot> slots;
  for (std::uint64_t number = 0; number < 5; ++number) {
    slots.push_back(add(index, number, kNoSlot, true));
  }
  for (std::size_t at = 0; at + 1 < slots.size(); ++at) index.set_parent(slots[at], slots[at + 1]);
  WalkOrder order(index);
  for (std::size_t at = slots.size(); at-- > 0;) EXPECT_EQ(order.next(), slots[at]);
  EXPECT_EQ(order.next(), kNoSlot);
}

// Parents that are inserted before or after their children, present or ghosts: each present block
// once, after all of its ancestors.
TEST(WalkOrder, RandomForestsAreToldOnceAndParentsFirst) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Rng rng(seed);
    Index index;
    std::vector<Slot> slots;
    for (std::uint64_t number = 0; number < 300; ++number) {
      slots.push_back(add(index, number, kNoSlot, rng.chance(0.8)));
    }
    for (std::size_t at = 1; at < slots.size(); ++at) {
      const bool low = rng.chance(0.5);
      if (rng.chance(0.2)) continue;
      const Slot other = slots[rng.below(slots.size())];
      index.set_parent(low ? slots[at] : other, low ? other : slots[at]);
    }
    std::set<Slot> expected;
    for (const Slot slot : slots) {
      if (index.in_use(slot) && index.entry(slot).present()) expected.insert(slot);
    }
    std::set<Slot> told;
    WalkOrder order(index);
    for (Slot slot = order.next(); slot != kNoSlot; slot = order.next()) {
      EXPECT_TRUE(told.insert(slot).second);
      for (Slot up = index.parent(slot); up != kNoSlot; up = index.parent(up)) {
        EXPECT_TRUE(!index.entry(up).present() || told.contains(up)) << "seed " << seed;
      }
    }
    EXPECT_EQ(told, expected) << "seed " << seed;
  }
}

TEST(WalkOrder, WhatComesAndGoesMeanwhileDoesNotConfuseIt) {
  Index index;
  const Slot first = add(index, 1, kNoSlot, true);
  const Slot second = add(index, 2, first, true);
  const Slot third = add(index, 3, second, true);
  WalkOrder order(index);
  EXPECT_EQ(order.next(), first);
  index.entry(second).flash_page = kNoFlashPage;  // a ghost now: its child names it
  add(index, 4, third, true);
  EXPECT_EQ(order.next(), third);
  EXPECT_EQ(order.next(), kNoSlot);
}

}  // namespace
}  // namespace forebay::store
