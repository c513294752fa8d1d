#include "workload/transform.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "core/bytes.h"
#include "workload/generator.h"

namespace forebay::workload {
namespace {

Trace chats() {
  const GeneratorOptions options{.seed = 3,
                                 .request_count = 400,
                                 .sessions_per_s = 2,
                                 .turns_mean = 4,
                                 .think_s_median = 5,
                                 .system_prompt_count = 3,
                                 .system_prompt_tokens = 700,
                                 .block_tokens = 64};
  return read_all(*generate(options)).value_or(Trace{});
}

std::size_t shared(const Request& a, const Request& b) {
  return static_cast<std::size_t>(std::ranges::mismatch(a.block_ids, b.block_ids).in1 -
                                  a.block_ids.begin());
}

TEST(Slice, KeepsWhatArrivesInsideAndCountsFromItsStart) {
  const Trace whole = chats();
  Trace part = whole;
  const std::int64_t from_ns = 20'000'000'000;
  const std::int64_t to_ns = 60'000'000'000;
  slice(part, {.from_ns = from_ns, .to_ns = to_ns});
  const auto inside = std::ranges::count_if(whole.requests, [&](const Request& request) {
    return request.arrival_ns >= from_ns && request.arrival_ns < to_ns;
  });
  ASSERT_EQ(part.requests.size(), static_cast<std::size_t>(inside));
  const std::size_t first =
      whole.requests.size() -
      static_cast<std::size_t>(std::ranges::count_if(
          whole.requests, [&](const Request& request) { return request.arrival_ns >= from_ns; }));
  std::size_t orphans = 0;
  for (std::size_t i = 0; i < part.requests.size(); ++i) {
    const Request& was = whole.requests[first + i];
    const Request& is = part.requests[i];
    ASSERT_EQ(is.index, i);
    ASSERT_EQ(is.arrival_ns, was.arrival_ns - from_ns);
    ASSERT_EQ(is.block_ids, was.block_ids);
    const bool cut = was.parent >= 0 && was.parent < static_cast<std::int64_t>(first);
    orphans += cut ? 1 : 0;
    ASSERT_EQ(is.parent,
              was.parent < 0 || cut ? -1 : was.parent - static_cast<std::int64_t>(first));
  }
  EXPECT_GT(orphans, 0U);
  EXPECT_NE(part.notes.back().find(std::to_string(orphans) + " of them lost their parent"),
            std::string::npos);
}

TEST(Slice, ALimitKeepsTheFirst) {
  Trace trace = chats();
  slice(trace, {.request_count_max = 7});
  ASSERT_EQ(trace.requests.size(), 7U);
  EXPECT_EQ(trace.requests[6].index, 6U);
  slice(trace, {.from_ns = 1'000'000'000'000'000});
  EXPECT_TRUE(trace.requests.empty());
}

TEST(SpeedUp, DividesArrivalsAndWaits) {
  Request request;
  request.arrival_ns = 1000;
  request.think_ns = 300;
  request.api_ns = 50;
  speed_up(request, 4);
  EXPECT_EQ(request.arrival_ns, 250);
  EXPECT_EQ(request.think_ns, 75);
  EXPECT_EQ(request.api_ns, 50);
}

// What two requests share in whole new blocks is what they shared before, rounded down to one.
TEST(Reblock, MergingAndSplittingKeepWhatIsShared) {
  const Trace before = chats();
  for (const std::uint32_t block_tokens : {256U, 16U}) {
    Trace after = before;
    ASSERT_TRUE(reblock(after, block_tokens));
    for (std::size_t i = 0; i < before.requests.size(); ++i) {
      ASSERT_EQ(after.requests[i].block_tokens, block_tokens);
      ASSERT_EQ(after.requests[i].block_ids.size(),
                divide_up(before.requests[i].input_tokens, block_tokens));
      const std::size_t j = (i * 7) % before.requests.size();
      if (i == j) continue;
      const std::size_t tokens = shared(before.requests[i], before.requests[j]) * 64;
      ASSERT_EQ(shared(after.requests[i], after.requests[j]), tokens / block_tokens)
          << i << " " << j;
    }
  }
}

TEST(Reblock, APartialTailWithoutIdentityStaysSo) {
  Request request;
  request.input_tokens = 300;  // 4 whole blocks of 64, and 44 tokens
  request.block_tokens = 64;
  request.block_ids = {1, 2, 3, 4};
  Request merged = request;
  ASSERT_TRUE(reblock(merged, 128));
  EXPECT_EQ(merged.block_ids.size(), 2U);
  Request halved = request;
  halved.input_tokens = 250;  // 3 whole blocks: the second pair is not whole
  halved.block_ids = {1, 2, 3};
  ASSERT_TRUE(reblock(halved, 128));
  EXPECT_EQ(halved.block_ids.size(), 1U);
  Request split = request;
  Request twin = request;
  twin.index = 1;
  ASSERT_TRUE(reblock(split, 16));
  ASSERT_TRUE(reblock(twin, 16));
  EXPECT_EQ(split.block_ids.size(), 18U);
  EXPECT_EQ(shared(split, twin), 16U);  // the 44 tokens are each request's own
}

TEST(Reblock, RefusesSizesThatDoNotDivide) {
  Request request;
  request.input_tokens = 100;
  request.block_tokens = 64;
  request.block_ids = {1, 2};
  const Status status = reblock(request, 96);
  ASSERT_FALSE(status.has_value());
  EXPECT_EQ(status.error().code, Errc::kInvalid);
  EXPECT_EQ(request.block_tokens, 64U);
  EXPECT_FALSE(reblock(request, 2).has_value());
  Request plain;
  plain.input_tokens = 100;
  EXPECT_TRUE(reblock(plain, 96));
}

RC_GTEST_PROP(ScaleTokens, EveryRequestKeepsItsBlocks, ()) {
  Request request;
  request.block_tokens = 64;
  request.input_tokens = *rc::gen::inRange<std::uint32_t>(1, 100'000);
  const bool tail = *rc::gen::arbitrary<bool>();
  const std::size_t count = tail ? divide_up(request.input_tokens, 64) : request.input_tokens / 64;
  for (std::size_t i = 0; i < count; ++i) request.block_ids.push_back(i);
  const auto ids = request.block_ids;
  const auto scale = *rc::gen::element(TokenScale{1, 8}, TokenScale{2, 1}, TokenScale{3, 4});
  RC_ASSERT(scale_tokens(request, scale).has_value());
  RC_ASSERT(request.block_ids == ids);
  RC_ASSERT(request.block_tokens == 64 * scale.multiply / scale.divide);
  const std::uint64_t whole = request.input_tokens / request.block_tokens;
  RC_ASSERT(count == whole || count == divide_up(request.input_tokens, request.block_tokens));
}

TEST(ScaleTokens, RefusesBlocksThatDoNotDivideOrGetTiny) {
  Request request;
  request.input_tokens = 100;
  request.block_tokens = 64;
  request.block_ids = {1, 2};
  EXPECT_FALSE(scale_tokens(request, {1, 7}).has_value());
  EXPECT_FALSE(scale_tokens(request, {1, 32}).has_value());
  EXPECT_EQ(request.input_tokens, 100U);
}

}  // namespace
}  // namespace forebay::workload
