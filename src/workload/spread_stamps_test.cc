#include "workload/spread_stamps.h"

#include <gtest/gtest.h>

#include "workload/trace_testing.h"

namespace forebay::workload {
namespace {

constexpr std::int64_t kMs = 1'000'000;

std::vector<std::int64_t> repeated(std::initializer_list<std::int64_t> stamps_ms,
                                   std::size_t times) {
  std::vector<std::int64_t> stamps;
  for (const std::int64_t stamp : stamps_ms) stamps.insert(stamps.end(), times, stamp * kMs);
  return stamps;
}

TEST(SpreadStamps, RoundedStampsShowTheirInterval) {
  EXPECT_EQ(stamp_interval_ns(repeated({0, 3000, 5999, 9000, 12'000, 18'000}, 10)), 3000 * kMs);
  EXPECT_EQ(stamp_interval_ns(repeated({0, 1000, 2000, 3000, 4000, 5000}, 2)), 1000 * kMs);
}

TEST(SpreadStamps, ExactStampsShowNone) {
  EXPECT_EQ(stamp_interval_ns({}), 0);
  EXPECT_EQ(stamp_interval_ns(repeated({0, 3000, 6000, 9000, 12'000, 15'000}, 1)), 0);
  EXPECT_EQ(stamp_interval_ns(repeated({0, 17, 39, 71, 99, 150, 180}, 3)), 0);  // bursts, to 1 ms
  EXPECT_EQ(stamp_interval_ns(repeated({0, 1000, 2700, 3100, 5900, 7050, 7777}, 3)), 0);
  EXPECT_EQ(stamp_interval_ns(repeated({0, 3000, 6000}, 10)), 0);  // too few to tell
}

std::string mooncake(std::initializer_list<int> stamps_ms, int times) {
  std::string text;
  for (const int stamp : stamps_ms) {
    for (int i = 0; i < times; ++i) {
      text += fmt::format(
          R"({{"timestamp": {}, "input_length": {}, "output_length": 1, "hash_ids": [{}]}})"
          "\n",
          stamp, i % 500 + 1, i);
    }
  }
  return text;
}

TEST(SpreadStamps, RequestsStayInOrderAndInsideTheirInterval) {
  const auto read = read_text(mooncake({0, 3000, 5999, 9000, 12'000}, 20));
  ASSERT_EQ(read.trace.requests.size(), 100U);
  const std::array<std::int64_t, 6> edges{0,          3000 * kMs,   5999 * kMs,
                                          9000 * kMs, 12'000 * kMs, 15'000 * kMs};
  for (std::size_t i = 0; i < 100; ++i) {
    const Request& request = read.trace.requests[i];
    EXPECT_EQ(request.input_tokens, i % 20 + 1);
    EXPECT_GE(request.arrival_ns, edges[i / 20]);
    EXPECT_LT(request.arrival_ns, edges[i / 20 + 1]);
  }
}

TEST(SpreadStamps, OneSeedOneResult) {
  const std::string text = mooncake({0, 3000, 6000, 9000, 12'000}, 20);
  ReadOptions options;
  const auto first = read_text(text, options);
  const auto again = read_text(text, options);
  options.seed = 2;
  const auto other = read_text(text, options);
  bool differs = false;
  for (std::size_t i = 0; i < 100; ++i) {
    ASSERT_EQ(first.trace.requests[i].arrival_ns, again.trace.requests[i].arrival_ns);
    differs |= first.trace.requests[i].arrival_ns != other.trace.requests[i].arrival_ns;
  }
  EXPECT_TRUE(differs);
}

TEST(SpreadStamps, MoreRequestsThanAreHeldStillComeInOrder) {
  const int many = static_cast<int>(SpreadStamps::kBucketRequestsMax) + 100;
  const auto read = read_text(mooncake({0, 3000, 6000, 9000, 12'000}, many));
  ASSERT_EQ(read.trace.requests.size(), static_cast<std::size_t>(many) * 5);
  for (std::size_t i = 0; i < read.trace.requests.size(); ++i) {
    const Request& request = read.trace.requests[i];
    ASSERT_EQ(request.input_tokens, i % static_cast<std::size_t>(many) % 500 + 1);
    ASSERT_EQ(request.arrival_ns / (3000 * kMs),
              static_cast<std::int64_t>(i / static_cast<std::size_t>(many)));
  }
}

}  // namespace
}  // namespace forebay::workload
