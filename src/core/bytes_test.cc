#include "core/bytes.h"

#include <gtest/gtest.h>

namespace forebay {
namespace {

TEST(Bytes, ParsesBinaryAndDecimalUnits) {
  EXPECT_EQ(parse_bytes("0"), 0U);
  EXPECT_EQ(parse_bytes("512"), 512U);
  EXPECT_EQ(parse_bytes("4K"), 4096U);
  EXPECT_EQ(parse_bytes("256KiB"), 262144U);
  EXPECT_EQ(parse_bytes("256KB"), 256000U);
  EXPECT_EQ(parse_bytes("1.5G"), 1610612736U);
  EXPECT_EQ(parse_bytes("10 TB"), 10000000000000U);
  EXPECT_EQ(parse_bytes("1PiB"), std::uint64_t{1} << 50);
}

TEST(Bytes, RefusesWhatIsNoSize) {
  for (const char* text :
       {"", "K", "-1", "1Q", "12 monkeys", "nan", "inf", "1e30", "99999999999T"}) {
    EXPECT_FALSE(parse_bytes(text)) << text;
  }
}

TEST(Bytes, FormatsForPeople) {
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(1023), "1023 B");
  EXPECT_EQ(format_bytes(256 * kKiB), "256 KiB");
  EXPECT_EQ(format_bytes(kGiB + kGiB / 2), "1.50 GiB");
}

TEST(Bytes, RoundsToUnits) {
  EXPECT_EQ(round_up(1, 4096), 4096U);
  EXPECT_EQ(round_up(4096, 4096), 4096U);
  EXPECT_EQ(round_down(8191, 4096), 4096U);
  EXPECT_EQ(divide_up(4097, 4096), 2U);
}

}  // namespace
}  // namespace forebay
