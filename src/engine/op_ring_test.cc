#include "engine/op_ring.h"

#include <gtest/gtest.h>

namespace forebay::engine {
namespace {

TEST(OpRing, KeepsTheNewestInOrderAndCountsTheRest) {
  OpRing ring;
  const std::uint64_t added = OpRing::kOpsMax + 3;
  for (std::uint64_t i = 0; i < added; ++i) ring.add({.op_id = i});
  EXPECT_EQ(ring.dropped_count(), 3U);
  const auto ops = ring.take();
  ASSERT_EQ(ops.size(), OpRing::kOpsMax);
  EXPECT_EQ(ops.front().op_id, 3U);
  EXPECT_EQ(ops.back().op_id, added - 1);
  // Emptied, it fills from the start again; what fell out stays counted.
  EXPECT_TRUE(ring.take().empty());
  ring.add({.op_id = 7});
  EXPECT_EQ(ring.take().front().op_id, 7U);
  EXPECT_EQ(ring.dropped_count(), 3U);
}

}  // namespace
}  // namespace forebay::engine
