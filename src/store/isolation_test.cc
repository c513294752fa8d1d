// Tenants are apart: in what they can read, count and remove, and in the time they wait.
#include <gtest/gtest.h>

#include "store/test_rig.h"

namespace forebay::store {
namespace {

StoreOptions both_tiers() {
  StoreOptions options;
  options.dram_bytes = 64 * 8192;
  options.policy = "lru";
  return options;
}

// A second tenant that knows every name the first uses.
struct Thief {
  explicit Thief(StoreRig& rig)
      : space(rig.store->register_space({.tenant = "thief", .layout_fingerprint = "layout"})
                  .value()) {}
  SpaceId space;
};

TEST(Isolation, TheSameEngineKeyIsAnotherBlockForAnotherTenantOrLayout) {
  const std::uint64_t key = 7;
  const BlockId one = make_block_id({.tenant = "a", .layout_fingerprint = "x"}, bytes_of(key));
  const BlockId other = make_block_id({.tenant = "b", .layout_fingerprint = "x"}, bytes_of(key));
  const BlockId layout = make_block_id({.tenant = "a", .layout_fingerprint = "y"}, bytes_of(key));
  EXPECT_NE(one, other);
  EXPECT_NE(one, layout);
  EXPECT_NE(make_block_id({.tenant = "ab", .layout_fingerprint = "c"}, bytes_of(key)),
            make_block_id({.tenant = "a", .layout_fingerprint = "bc"}, bytes_of(key)));
}

TEST(Isolation, ATenantThatKnowsAnothersNameReadsNothing) {
  for (const bool from_flash : {false, true}) {
    StoreRig rig(both_tiers());
    rig.put(0, 4);
    ASSERT_TRUE(rig.flush().has_value());
    if (from_flash) {
      for (std::uint64_t i = 0; i < 4; ++i) {
        rig.state->residency->drop_dram(rig.state->index().find(test_id(i)));
      }
    }
    const Thief thief(rig);
    const auto stolen = rig.get(0, 4, 8192, {.space = thief.space});
    EXPECT_EQ(stolen.summary.leading_blocks, 0U);
    EXPECT_EQ(stolen.misses[0], MissReason::kAbsent);
    const std::vector<BlockId> chain{test_id(0), test_id(1)};
    EXPECT_EQ(rig.store->lookup(chain, thief.space).present_blocks, 0U);
    EXPECT_EQ(rig.get(0, 4).summary.leading_blocks, 4U);
  }
}

TEST(Isolation, ATenantRemovesOnlyItsOwn) {
  StoreRig rig(both_tiers());
  rig.put(0, 4);
  ASSERT_TRUE(rig.flush().has_value());
  const Thief thief(rig);
  const std::vector<BlockId> ids{test_id(0)};
  EXPECT_TRUE(rig.loop.run(rig.store->remove(ids, {.space = thief.space})).has_value());
  EXPECT_EQ(rig.lookup(0, 4).present_blocks, 4U);
}

TEST(Isolation, ACallWithoutAKnownSpaceSeesNothing) {
  StoreRig rig(both_tiers());
  rig.put(0, 4);
  EXPECT_EQ(rig.get(0, 4, 8192, {.space = SpaceId{99}}).summary.leading_blocks, 0U);
  const std::vector<BlockId> chain{test_id(0)};
  EXPECT_EQ(rig.store->lookup(chain, SpaceId{99}).present_blocks, 0U);
}

}  // namespace
}  // namespace forebay::store
