#include "store/index.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <vector>

#include "core/rng.h"

namespace forebay::store {
namespace {

BlockId id_of(std::uint64_t number) {
  BlockId id;
  for (std::size_t i = 0; i < 4; ++i) {
    const std::uint64_t word = mix64(number * 4 + i + 1);
    std::memcpy(id.digest.data() + i * 8, &word, sizeof word);
  }
  return id;
}

Slot insert_present(Index& index, const BlockId& id) {
  const Slot slot = index.insert(id);
  index.entry(slot).flash_page = 1;
  return slot;
}

std::size_t leading(const Index& index, std::span<const BlockId> chain) {
  return index.walk(chain, [](Slot, const IndexEntry&) { return true; });
}

TEST(Index, FindsWhatWasInsertedAndNothingElse) {
  Index index;
  std::map<std::uint64_t, Slot> slots;
  for (std::uint64_t i = 0; i < 50'000; ++i) slots[i] = insert_present(index, id_of(i));
  for (const auto& [number, slot] : slots) ASSERT_EQ(index.find(id_of(number)), slot);
  for (std::uint64_t i = 50'000; i < 100'000; ++i) ASSERT_EQ(index.find(id_of(i)), kNoSlot);
}

TEST(Index, AgreesWithAnOracleUnderRandomInsertsAndReleases) {
  Index index;
  Rng rng(7);
  std::set<std::uint64_t> oracle;
  for (int step = 0; step < 200'000; ++step) {
    const std::uint64_t number = rng.below(30'000);
    if (rng.chance(0.5)) {
      insert_present(index, id_of(number));
      oracle.insert(number);
    } else if (const Slot slot = index.find(id_of(number)); slot != kNoSlot) {
      ASSERT_TRUE(oracle.contains(number));
      index.entry(slot).flash_page = kNoFlashPage;
      index.release(slot);
      oracle.erase(number);
    } else {
      ASSERT_FALSE(oracle.contains(number));
    }
  }
  EXPECT_EQ(index.entry_count(), oracle.size());
  for (std::uint64_t i = 0; i < 30'000; ++i) {
    ASSERT_EQ(index.find(id_of(i)) != kNoSlot, oracle.contains(i)) << i;
  }
}

TEST(Index, WalkStopsAtTheFirstAbsentBlockAtAnyPosition) {
  Index index;
  std::vector<BlockId> chain;
  for (std::uint64_t i = 0; i < 100; ++i) chain.push_back(id_of(i));
  for (std::size_t hole = 0; hole <= chain.size(); ++hole) {
    Index fresh;
    for (std::size_t i = 0; i < chain.size(); ++i) {
      if (i != hole) insert_present(fresh, chain[i]);
    }
    ASSERT_EQ(leading(fresh, chain), hole);
  }
  EXPECT_EQ(leading(index, chain), 0U);
  EXPECT_EQ(leading(index, {}), 0U);
}

// Chains that were put in one piece, in pieces, backwards and scattered, over slots that were freed
// and used again: a walk answers slot by slot what find() does.
TEST(Index, WalkAnswersAsFindDoesHoweverTheSlotsLie) {
  Rng rng(11);
  for (int round = 0; round < 200; ++round) {
    Index index;
    std::vector<BlockId> chain;
    for (std::uint64_t i = 0; i < 600; ++i) chain.push_back(id_of(i));
    for (std::size_t put = 0; put < 40; ++put) {
      const std::size_t first = rng.below(chain.size());
      const std::size_t end = std::min(chain.size(), first + 1 + rng.below(120));
      const bool removes = rng.chance(0.4);
      for (std::size_t i = first; i < end; ++i) {
        if (!removes) {
          insert_present(index, chain[i]);
        } else if (const Slot slot = index.find(chain[i]); slot != kNoSlot) {
          index.entry(slot).flash_page = kNoFlashPage;
          index.release(slot);
        }
      }
    }
    for (std::size_t first = 0; first < chain.size(); first += 1 + rng.below(30)) {
      const auto rest = std::span(chain).subspan(first);
      std::size_t expected = 0;
      while (expected < rest.size() && index.find(rest[expected]) != kNoSlot) ++expected;
      std::size_t at = 0;
      ASSERT_EQ(index.walk(rest,
                           [&](Slot slot, const IndexEntry& entry) {
                             EXPECT_EQ(slot, index.find(rest[at]));
                             EXPECT_EQ(entry.id, ShortId::of(rest[at++]));
                             return true;
                           }),
                expected);
    }
  }
}

// A freed slot keeps the id it had: a walk along its neighbours must not take it for the block.
TEST(Index, WalkDoesNotBelieveAFreedSlot) {
  Index index;
  std::vector<BlockId> chain;
  for (std::uint64_t i = 0; i < 200; ++i) {
    chain.push_back(id_of(i));
    insert_present(index, chain.back());
  }
  const Slot freed = index.find(chain[120]);
  index.entry(freed).flash_page = kNoFlashPage;
  index.release(freed);
  index.entry(freed).flash_page = 1;  // as if it were there
  EXPECT_EQ(leading(index, chain), 120U);
}

TEST(Index, WalkEndsWhenTheVisitorSaysSo) {
  Index index;
  std::vector<BlockId> chain;
  for (std::uint64_t i = 0; i < 70; ++i) {
    chain.push_back(id_of(i));
    insert_present(index, chain.back());
  }
  std::size_t left = 40;
  EXPECT_EQ(index.walk(chain, [&](Slot, const IndexEntry&) { return left-- > 0; }), 40U);
}

TEST(Index, AParentThatGoesBeforeItsChildrenIsAGhostUntilTheLastChildGoes) {
  Index index;
  const Slot parent = insert_present(index, id_of(1));
  const Slot first = insert_present(index, id_of(2));
  const Slot second = insert_present(index, id_of(3));
  index.set_parent(first, parent);
  index.set_parent(second, parent);
  EXPECT_EQ(index.entry(parent).child_count(), 2U);

  index.entry(parent).flash_page = kNoFlashPage;
  index.release(parent);
  EXPECT_EQ(index.find(id_of(1)), parent);
  EXPECT_EQ(leading(index, std::vector{id_of(1), id_of(2)}), 0U);

  for (const Slot child : {first, second}) {
    index.entry(child).flash_page = kNoFlashPage;
    index.release(child);
  }
  EXPECT_EQ(index.find(id_of(1)), kNoSlot);
  EXPECT_EQ(index.entry_count(), 0U);
}

TEST(Index, ReleasingAChainOfGhostsFreesAllOfIt) {
  Index index;
  Slot parent = kNoSlot;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    const Slot slot = index.insert(id_of(i));
    index.set_parent(slot, parent);
    parent = slot;
  }
  EXPECT_EQ(index.entry_count(), 1000U);
  index.release(parent);
  EXPECT_EQ(index.entry_count(), 0U);
}

TEST(Index, RefusesALinkThatWouldCloseACircle) {
  Index index;
  const Slot a = insert_present(index, id_of(1));
  const Slot b = insert_present(index, id_of(2));
  const Slot c = insert_present(index, id_of(3));
  index.set_parent(b, a);
  index.set_parent(c, b);
  index.set_parent(a, c);
  index.set_parent(a, a);
  EXPECT_EQ(index.parent(a), kNoSlot);
  EXPECT_EQ(index.entry(c).child_count(), 0U);
}

TEST(Index, AnOftenNamedParentKeepsASaturatedCountAndNeverUnderflows) {
  Index index;
  const Slot parent = insert_present(index, id_of(0));
  std::vector<Slot> children;
  for (std::uint64_t i = 1; i <= 5'000; ++i) {
    children.push_back(insert_present(index, id_of(i)));
    index.set_parent(children.back(), parent);
  }
  EXPECT_EQ(index.entry(parent).child_count(), IndexEntry::kChildrenMax);
  for (const Slot child : children) {
    index.entry(child).flash_page = kNoFlashPage;
    index.release(child);
  }
  EXPECT_EQ(index.entry(parent).child_count(), IndexEntry::kChildrenMax);
  EXPECT_EQ(index.entry_count(), 1U);
}

TEST(Index, SpendsFortyFourBytesABlockAtMost) {
  Index index;
  for (std::uint64_t i = 0; i < 1'000'000; ++i) insert_present(index, id_of(i));
  EXPECT_LE(static_cast<double>(index.memory_bytes()) / 1e6, 44.0);
}

}  // namespace
}  // namespace forebay::store
