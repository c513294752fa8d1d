#include "store/policy/chain_value.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace forebay::store::policy {
namespace {

// Residents without chains, unless a test names parents.
class Flat final : public ChainView {
 public:
  std::vector<Slot> parents;  // slots that have a child here
  [[nodiscard]] bool has_resident_child(Slot slot) const override {
    return std::ranges::find(parents, slot) != parents.end();
  }
  [[nodiscard]] bool is_held(Slot) const override { return false; }
};

class Cache {
 public:
  Cache() : policy_({.capacity_blocks = 1000}) {}
  void insert(const BlockFacts& facts, std::uint16_t space = 0) {
    policy_.begin_request({.chain_blocks = 1, .group = space});
    policy_.on_insert(facts);
  }
  Flat view;
  ChainValue policy_;
};

BlockFacts block(Slot slot) { return {.slot = slot, .key = (slot + 1ULL) << 20}; }

// The dearer is the older, so recency alone would choose it.
TEST(ChainValue, KeepsTheDearerOfTwoModels) {
  Cache cache;
  BlockFacts dear = block(0);
  dear.recompute_ns = 64;
  cache.insert(dear, 0);
  cache.insert(block(1), 1);
  EXPECT_EQ(cache.policy_.victim(cache.view), 1U);
}

TEST(ChainValue, GivesUpTheLargerAtEqualValue) {
  Cache cache;
  cache.insert(block(0), 0);
  BlockFacts large = block(1);
  large.bytes = 64;
  cache.insert(large, 1);
  EXPECT_EQ(cache.policy_.victim(cache.view), 1U);
}

TEST(ChainValue, WithoutEvidenceGivesUpTheOldest) {
  Cache cache;
  cache.insert(block(0), 0);
  for (Slot slot = 1; slot < 9; ++slot) cache.insert(block(slot), slot % 4);
  EXPECT_EQ(cache.policy_.victim(cache.view), 0U);
}

TEST(ChainValue, PrefersAnyGroupsLeafToAParent) {
  Cache cache;
  cache.insert(block(0), 0);
  BlockFacts dear = block(1);
  dear.recompute_ns = 1e6;
  cache.insert(dear, 1);
  cache.view.parents = {0};
  EXPECT_EQ(cache.policy_.victim(cache.view), 1U);
  cache.view.parents = {0, 1};
  EXPECT_EQ(cache.policy_.victim(cache.view), 0U);
}

// Space `hot` comes back every request, space `cold` never does: which one is learned.
void live(ChainValue& policy, std::uint16_t hot, std::uint16_t cold, Slot first, int requests) {
  BlockFacts often = block(first);
  policy.begin_request({.chain_blocks = 1, .group = hot});
  policy.on_insert(often);
  for (Slot i = 1; i <= static_cast<Slot>(requests); ++i) {
    const BlockFacts once = block(first + i);
    policy.begin_request({.chain_blocks = 1, .group = cold});
    policy.on_insert(once);
    policy.on_remove(once.slot, once.key);
    policy.begin_request({.chain_blocks = 1, .group = hot});
    policy.on_remove(often.slot, often.key);
    policy.on_insert(often);
    if (i % 16 != 0) continue;
    policy.on_remove(often.slot, often.key);
    often.key = (often.key << 1) | 1;  // another block, first touch
    policy.on_insert(often);
  }
  policy.on_remove(often.slot, often.key);
}

// The worth of a block of `space`, touched first and left alone for a while.
double worth_in(ChainValue& policy, std::uint16_t space, Slot slot) {
  policy.begin_request({.chain_blocks = 1, .group = space});
  policy.on_insert(block(slot));
  const double worth = policy.worth(slot);
  policy.on_remove(slot, block(slot).key);
  return worth;
}

TEST(ChainValue, ModelsDoNotShareWhatIsLearned) {
  Cache cache;
  live(cache.policy_, 0, 1, 0, 1000);
  EXPECT_GT(worth_in(cache.policy_, 0, 5000), 2 * worth_in(cache.policy_, 1, 5001));
}

// The roles change: after as many requests as were lived before, the order has turned.
TEST(ChainValue, FollowsADrift) {
  Cache cache;
  live(cache.policy_, 0, 1, 0, 1000);
  live(cache.policy_, 1, 0, 10'000, 4000);
  EXPECT_GT(worth_in(cache.policy_, 1, 50'000), worth_in(cache.policy_, 0, 50'001));
}

TEST(ChainValue, StartsWarmFromWhatWasSaved) {
  Cache cache;
  live(cache.policy_, 0, 1, 0, 1000);
  ChainValue warm({.capacity_blocks = 1000});
  ASSERT_TRUE(warm.restore(cache.policy_.save()));
  for (const std::uint16_t space : {std::uint16_t{0}, std::uint16_t{1}}) {
    const double running = worth_in(cache.policy_, space, 5000 + space);
    EXPECT_NEAR(worth_in(warm, space, space), running, 0.2 * running) << space;
  }
}

// A block's mark brings back its group and about its age, so its worth, once the model is there.
TEST(ChainValue, AMarkedBlockIsWorthWhatItWas) {
  Cache cache;
  live(cache.policy_, 0, 1, 0, 1000);
  cache.insert(block(5000), 0);
  for (Slot slot = 6000; slot < 6020; ++slot) cache.insert(block(slot), 1);
  ChainValue warm({.capacity_blocks = 1000});
  ASSERT_TRUE(warm.restore(cache.policy_.save()));
  EXPECT_TRUE(warm.resumed());
  warm.begin_request({});
  for (const Slot slot : {Slot{5000}, Slot{6000}, Slot{6019}}) {
    BlockFacts facts = block(slot);
    facts.mark = cache.policy_.mark(slot);
    warm.on_insert(facts);
    EXPECT_EQ(warm.mark(slot), facts.mark);
    const double before = cache.policy_.worth(slot);
    EXPECT_NEAR(warm.worth(slot), before, 0.5 * before) << slot;
  }
}

TEST(ChainValue, AMarkThatMeansNothingIsANewBlock) {
  Cache cache;
  live(cache.policy_, 0, 1, 0, 100);
  ChainValue warm({.capacity_blocks = 1000});
  ASSERT_TRUE(warm.restore(cache.policy_.save()));
  const std::uint32_t all_bits = (1U << kMarkBits) - 1;
  Slot slot = 0;
  for (const std::uint32_t mark : {0U, 0xf02U, all_bits, 31U << 12 | 5U, ~0U}) {
    BlockFacts facts = block(slot++);
    facts.mark = mark;
    warm.begin_request({.chain_blocks = 1});
    warm.on_insert(facts);
    EXPECT_EQ(warm.mark(facts.slot), warm.mark(0) & 0xfffU) << mark;
  }
  for (slot = 0; slot < 5; ++slot) {
    const Slot victim = warm.victim(cache.view);
    ASSERT_EQ(victim, slot);
    warm.on_remove(victim, block(victim).key);
  }
}

TEST(ChainValue, RefusesDamagedState) {
  Cache cache;
  live(cache.policy_, 0, 1, 0, 100);
  const auto good = cache.policy_.save();
  const auto refuses = [](std::vector<std::byte> bytes, Errc code) {
    ChainValue cold({.capacity_blocks = 10});
    const auto restored = cold.restore(bytes);
    return !restored && restored.error().code == code;
  };
  auto other_version = good;
  other_version[0] = std::byte{77};
  EXPECT_TRUE(refuses(other_version, Errc::kVersion));
  auto no_such_group = good;
  no_such_group[8 + 3] = std::byte{0xff};
  EXPECT_TRUE(refuses(no_such_group, Errc::kCorrupt));
  auto no_number = good;
  for (std::size_t i = 12; i < 16; ++i) no_number[i] = std::byte{0xff};
  EXPECT_TRUE(refuses(no_number, Errc::kCorrupt));
  auto shorter = good;
  shorter.pop_back();
  EXPECT_TRUE(refuses(shorter, Errc::kCorrupt));
  EXPECT_TRUE(refuses({}, Errc::kCorrupt));
}

}  // namespace
}  // namespace forebay::store::policy
