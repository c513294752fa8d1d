#include "engine/prompt_blocks.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <set>

namespace forebay::engine {
namespace {

const store::KeySpace kSpace{"tenant", "layout"};

workload::Request request_of(std::vector<std::uint64_t> ids, std::uint32_t tokens,
                             std::uint32_t block_tokens) {
  workload::Request request;
  request.block_ids = std::move(ids);
  request.input_tokens = tokens;
  request.block_tokens = block_tokens;
  return request;
}

std::size_t shared_blocks(const PromptBlocks& a, const PromptBlocks& b) {
  const auto [at, other] = std::ranges::mismatch(a.names, b.names);
  return static_cast<std::size_t>(at - a.names.begin());
}

TEST(PromptBlocks, OnlyFullBlocksAreNamed) {
  EXPECT_EQ(prompt_blocks(request_of({1, 2, 3}, 1200, 512), 512, kSpace).names.size(), 2U);
  EXPECT_EQ(prompt_blocks(request_of({1, 2}, 1024, 512), 512, kSpace).names.size(), 2U);
  EXPECT_TRUE(prompt_blocks(request_of({1}, 511, 512), 512, kSpace).names.empty());
}

TEST(PromptBlocks, IdsAndNamesStandForEachOther) {
  const auto a = prompt_blocks(request_of({1, 2, 3}, 1536, 512), 512, kSpace);
  const auto b = prompt_blocks(request_of({1, 2, 4}, 1536, 512), 512, kSpace);
  ASSERT_EQ(a.ids.size(), a.names.size());
  EXPECT_EQ(a.ids[1], b.ids[1]);
  EXPECT_NE(a.ids[2], b.ids[2]);
  const auto foreign = prompt_blocks(request_of({1}, 512, 512), 512, {"other", "layout"});
  EXPECT_NE(foreign.ids[0], a.ids[0]);
}

TEST(PromptBlocks, TheSameIdBehindAnotherPrefixIsAnotherBlock) {
  const auto a = prompt_blocks(request_of({1, 5}, 1024, 512), 512, kSpace);
  const auto b = prompt_blocks(request_of({2, 5}, 1024, 512), 512, kSpace);
  EXPECT_NE(a.names[1], b.names[1]);
}

TEST(PromptBlocks, RequestsWithoutIdentitiesShareNothing) {
  auto first = request_of({}, 1024, 0);
  auto second = first;
  second.index = 1;
  EXPECT_EQ(shared_blocks(prompt_blocks(first, 256, kSpace), prompt_blocks(second, 256, kSpace)),
            0U);
}

// Two prompts that share a prefix of trace blocks share exactly the engine blocks inside it.
RC_GTEST_PROP(PromptBlocks, SharingFollowsTheTraceWhateverTheTwoBlockSizes, ()) {
  const auto trace_tokens = *rc::gen::inRange<std::uint32_t>(1, 100);
  const auto engine_tokens = *rc::gen::inRange<std::uint32_t>(1, 100);
  const auto shared = *rc::gen::inRange<std::uint32_t>(0, 20);
  const auto count = shared + *rc::gen::inRange<std::uint32_t>(1, 20);
  std::vector<std::uint64_t> a(count), b(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    a[i] = i;
    b[i] = i < shared ? i : 1000 + i;
  }
  const std::uint32_t tokens = count * trace_tokens;
  const auto left = prompt_blocks(request_of(a, tokens, trace_tokens), engine_tokens, kSpace);
  const auto right = prompt_blocks(request_of(b, tokens, trace_tokens), engine_tokens, kSpace);
  RC_ASSERT(shared_blocks(left, right) == shared * trace_tokens / engine_tokens);
  RC_ASSERT(std::set(left.names.begin(), left.names.end()).size() == left.names.size());
}

}  // namespace
}  // namespace forebay::engine
