#include <gtest/gtest.h>

#include "workload/trace_testing.h"

namespace forebay::workload {
namespace {

TEST(Azure, TimesCountFromTheFirstRow) {
  const auto read = read_text(
      "TIMESTAMP,ContextTokens,GeneratedTokens\n"
      "2023-11-16 18:17:03.9799600,4808,10\n"
      "2023-11-16 18:17:04.0319600,3180,8\n");
  EXPECT_TRUE(read.diagnostics.empty()) << read.diagnostics.text();
  EXPECT_EQ(read.trace.format, "azure");
  ASSERT_EQ(read.trace.requests.size(), 2U);
  EXPECT_EQ(read.trace.requests[0].arrival_ns, 0);
  EXPECT_EQ(read.trace.requests[1].arrival_ns, 52'000'000);
  EXPECT_EQ(read.trace.requests[1].input_tokens, 3180U);
  EXPECT_EQ(read.trace.requests[1].output_tokens, 8U);
  EXPECT_EQ(read.trace.requests[1].block_tokens, 0U);
}

TEST(Azure, TheYearsAfterHaveZonesAndMoreColumns) {
  const auto read = read_text(
      "TIMESTAMP,NumImages,ContextTokens,GeneratedTokens\r\n"
      "2024-05-10 00:00:00.009930+00:00,2,10,1\r\n"
      "2024-05-10 00:00:01.009930+00:00,0,20,2\r\n");
  ASSERT_EQ(read.trace.requests.size(), 2U);
  EXPECT_EQ(read.trace.requests[1].arrival_ns, 1'000'000'000);
  EXPECT_EQ(read.trace.requests[1].input_tokens, 20U);
}

TEST(Azure, CutAndFalseRowsAreNamed) {
  const auto read = read_text(
      "TIMESTAMP,ContextTokens,GeneratedTokens\n"
      "2023-11-16 18:17:03,4808\n"
      "yesterday,1,1\n"
      "2023-11-16 18:17:03,x,1\n"
      "2023-11-16 18:17:03,1,-1\n"
      "2023-11-16 18:17:03,1,1\n");
  EXPECT_EQ(read.trace.requests.size(), 1U);
  ASSERT_EQ(read.diagnostics.count(), 4U);
  EXPECT_EQ(read.diagnostics.kept()[0].message, "2 fields where the header names 3");
  EXPECT_EQ(read.diagnostics.kept()[1].message, "`yesterday` is not a time");
  EXPECT_EQ(read.diagnostics.kept()[2].place, "trace:4");
}

TEST(Azure, ARowOfAnotherDecadeIsNamed) {
  const auto read = read_text(
      "TIMESTAMP,ContextTokens,GeneratedTokens\n"
      "2003-11-16 18:17:03,1,1\n"
      "2024-05-10 00:00:00,2,1\n"
      "2003-11-16 18:17:04,3,1\n");
  EXPECT_EQ(read.trace.requests.size(), 2U);
  ASSERT_EQ(read.diagnostics.count(), 1U);
  EXPECT_EQ(read.diagnostics.kept()[0].place, "trace:3");
  EXPECT_EQ(read.diagnostics.kept()[0].message,
            "`2024-05-10 00:00:00` is years after the first request");
}

TEST(Azure, ARowOlderThanTheFirstCountsAsOfItsTime) {
  const auto read = read_text(
      "TIMESTAMP,ContextTokens,GeneratedTokens\n"
      "2023-11-16 18:17:03,1,1\n"
      "2023-11-16 18:17:02,2,1\n");
  ASSERT_EQ(read.trace.requests.size(), 2U);
  EXPECT_EQ(read.trace.requests[1].arrival_ns, 0);
  EXPECT_NE(joined_notes(read.trace).find("1 rows are older"), std::string::npos);
}

TEST(Azure, AHeaderOfAnotherKindIsNamedWhenTheFormatIsForced) {
  ReadOptions options;
  options.format = "azure";
  const auto read = read_text("TIME,Context\n", options);
  EXPECT_NE(only_mistake(read).find("no column `TIMESTAMP`"), std::string::npos);
}

}  // namespace
}  // namespace forebay::workload
