#include "workload/timestamp.h"

#include <gtest/gtest.h>

namespace forebay::workload {
namespace {

constexpr std::int64_t kSecondNs = 1'000'000'000;

// Seconds by date(1): date -u -d '...' +%s
TEST(Timestamp, TheStampsOfPublicTracesAreWhatDateSays) {
  EXPECT_EQ(parse_timestamp_ns("2023-11-16 18:17:03.9799600"),
            1'700'158'623 * kSecondNs + 979'960'000);
  EXPECT_EQ(parse_timestamp_ns("2024-05-10 00:00:00.009930+00:00"),
            1'715'299'200 * kSecondNs + 9'930'000);
  EXPECT_EQ(parse_timestamp_ns("2026-06-01T05:40:20.151Z"),
            1'780'292'420 * kSecondNs + 151'000'000);
  EXPECT_EQ(parse_timestamp_ns("1970-01-01 00:00:00"), 0);
  EXPECT_EQ(parse_timestamp_ns("2024-02-29 12:00:00"), 1'709'208'000 * kSecondNs);
}

TEST(Timestamp, ZonesAreTakenOff) {
  EXPECT_EQ(parse_timestamp_ns("2024-05-10 02:00:00+02:00"),
            parse_timestamp_ns("2024-05-10 00:00:00Z"));
  EXPECT_EQ(parse_timestamp_ns("2024-05-09 18:30:00-0530"),
            parse_timestamp_ns("2024-05-10 00:00:00Z"));
}

TEST(Timestamp, DigitsBelowANanosecondAreDropped) {
  EXPECT_EQ(parse_timestamp_ns("1970-01-01 00:00:01.1234567899999"), 1'123'456'789);
}

TEST(Timestamp, WhatIsNoTimeIsNone) {
  for (const char* text : {"", "2023", "2023-13-01 00:00:00", "2023-02-29 00:00:00", "2023-11-16",
                           "1969-12-31 23:59:59", "2023-11-16 24:00:00", "2023-11-16 18:17:03 ",
                           "2023-11-16 18:17:03x", "2023-11-16_18:17:03", "-023-11-16 18:17:03",
                           "2023-11-16 18:17:03+9", "99999999999999"}) {
    EXPECT_FALSE(parse_timestamp_ns(text).has_value()) << text;
  }
}

}  // namespace
}  // namespace forebay::workload
