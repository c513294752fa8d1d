#include "joint/late_repeats.h"

#include <gtest/gtest.h>

namespace forebay::joint {
namespace {

TEST(LateRepeats, ACellIsDoneAgainTwiceAndThenNoOther) {
  LateRepeats repeats(100);
  EXPECT_TRUE(repeats.take(1));  // one cell, in time at its second attempt
  EXPECT_TRUE(repeats.take(1));
  EXPECT_TRUE(repeats.take(2));
  EXPECT_FALSE(repeats.take(3));
  EXPECT_FALSE(repeats.take(1));
}

TEST(LateRepeats, ARunHasSoManyOfThem) {
  LateRepeats repeats(2);
  EXPECT_TRUE(repeats.take(1));
  EXPECT_TRUE(repeats.take(1));
  EXPECT_FALSE(repeats.take(1));
  EXPECT_FALSE(LateRepeats(0).take(1));
}

}  // namespace
}  // namespace forebay::joint
