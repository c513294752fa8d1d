#include "plan/prefix_cache.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "core/rng.h"

namespace forebay::plan {
namespace {

BlockTrace trace_of(const std::vector<std::vector<std::uint64_t>>& chains) {
  BlockTraceBuilder builder;
  for (const auto& chain : chains) builder.add(chain, 0, 1);
  return builder.take();
}

std::uint64_t hits(const BlockTrace& trace, std::string_view policy, std::uint64_t capacity) {
  const auto outcome = simulate(trace, policy, capacity);
  EXPECT_TRUE(outcome.has_value()) << policy;
  return outcome ? outcome->hit_blocks : 0;
}

// Worked by hand: A={1,2}, B={1,3}, capacity 2.
//   A: miss 1, miss 2; resident 1 2.   B: hit 1, miss 3; three resident, the least recent leaf is
//   2: resident 1 3.   A: hit 1, miss 2; evicts 3.   A: hit 1, hit 2.
TEST(PrefixCache, LruFollowsTheHandWorkedCase) {
  const auto trace = trace_of({{1, 2}, {1, 3}, {1, 2}, {1, 2}});
  EXPECT_EQ(hits(trace, "lru", 2), 4U);
  const auto outcome = simulate(trace, "lru", 2);
  EXPECT_EQ(outcome->accessed_blocks, 8U);
  EXPECT_EQ(outcome->evicted_blocks, 2U);
}

// Belady keeps 2 instead of 3 (never used again): B evicts 3 at once. Then A hits both, twice.
TEST(PrefixCache, BeladyFollowsTheHandWorkedCase) {
  const auto trace = trace_of({{1, 2}, {1, 3}, {1, 2}, {1, 2}});
  EXPECT_EQ(hits(trace, "belady", 2), 5U);
  EXPECT_EQ(hits(trace, "infinite", 0), 5U);
}

TEST(PrefixCache, AGapEndsTheRun) {
  // Capacity 1 keeps only the first block of each chain, since leaves go first.
  const auto trace = trace_of({{1, 2, 3}, {1, 2, 3}});
  EXPECT_EQ(hits(trace, "lru", 1), 1U);
}

TEST(PrefixCache, AnUnknownPolicyIsInvalid) {
  const auto outcome = simulate(trace_of({{1}}), "fifo", 1);
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, Errc::kInvalid);
}

// Random trees of chains: sessions that grow, and a shared first block.
BlockTrace random_trace(std::uint64_t seed, std::size_t requests) {
  Rng rng(seed);
  std::vector<std::vector<std::uint64_t>> sessions;
  BlockTraceBuilder builder;
  std::uint64_t next = 1;
  for (std::size_t i = 0; i < requests; ++i) {
    const bool fresh = sessions.empty() || rng.chance(0.4);
    if (fresh) sessions.push_back({0});
    auto& session = fresh ? sessions.back() : sessions[rng.below(sessions.size())];
    const std::uint64_t grow = rng.below(4);
    for (std::uint64_t n = 0; n < grow; ++n) session.push_back(next++);
    builder.add(session, 0, 1);
  }
  return builder.take();
}

RC_GTEST_PROP(PrefixCache, NoPolicyPassesBeladyAndNoneLosesBlocks, (std::uint64_t seed)) {
  const auto trace = random_trace(seed, 120);
  for (const std::uint64_t capacity : {1U, 5U, 20U, 60U}) {
    const auto limit = simulate(trace, "belady", capacity)->hit_blocks;
    RC_ASSERT(limit <= simulate(trace, "infinite", 0)->hit_blocks);
    for (const auto policy : store::policy::policy_names()) {
      const auto outcome = simulate(trace, policy, capacity);
      RC_ASSERT(outcome->hit_blocks <= limit);
      RC_ASSERT(outcome->accessed_blocks == trace.blocks.size());
      RC_ASSERT(simulate(trace, policy, trace.unique_blocks)->hit_blocks ==
                simulate(trace, "infinite", 0)->hit_blocks);
    }
  }
}

TEST(PrefixCache, IsDeterministic) {
  const auto trace = random_trace(7, 2000);
  for (const auto policy : store::policy::policy_names()) {
    EXPECT_EQ(hits(trace, policy, 300), hits(trace, policy, 300)) << policy;
  }
}

// An independent implementation's figures for this trace and these semantics.
class Mooncake : public testing::Test {
 protected:
  void SetUp() override {
    const std::string path =
        FOREBAY_SOURCE_DIR "/../shared/traces/mooncake/conversation_trace.jsonl";
    std::ifstream file(path);
    if (!file) GTEST_SKIP() << "the public Mooncake trace is not beside the checkout";
    BlockTraceBuilder builder;
    for (std::string line; std::getline(file, line);) {
      builder.add(nlohmann::json::parse(line)["hash_ids"].get<std::vector<std::uint64_t>>(), 0, 1);
    }
    trace_ = builder.take();
    ASSERT_EQ(trace_.blocks.size(), 288'500U);
  }
  double ratio(std::string_view policy, std::uint64_t capacity) const {
    return simulate(trace_, policy, capacity)->hit_ratio();
  }
  BlockTrace trace_;
};

constexpr std::array<std::uint64_t, 4> kCapacities{1'827, 5'483, 18'279, 54'837};

TEST_F(Mooncake, LruAgreesWithTheIndependentImplementation) {
  constexpr std::array<double, 4> kExpected{0.0525, 0.1257, 0.2789, 0.3577};
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(ratio("lru", kCapacities[i]), kExpected[i], 5e-5);
}

TEST_F(Mooncake, BeladyAgreesWithTheIndependentImplementation) {
  constexpr std::array<double, 4> kExpected{0.2464, 0.3479, 0.3664, 0.3664};
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(ratio("belady", kCapacities[i]), kExpected[i], 5e-5);
  }
  EXPECT_NEAR(ratio("infinite", 0), 0.3664, 5e-5);
}

// The best that LRU, S3-FIFO and GDSF reach, by the same independent implementation.
constexpr std::array<double, 4> kBestOfThree{0.0767, 0.1580, 0.2887, 0.3577};

TEST_F(Mooncake, ForebayPassesTheBestOfThree) {
  constexpr std::array<double, 4> kBar{1.3, 1.05, 0.995, 0.995};
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_GE(ratio("forebay", kCapacities[i]), kBar[i] * kBestOfThree[i]) << kCapacities[i];
  }
}

}  // namespace
}  // namespace forebay::plan
