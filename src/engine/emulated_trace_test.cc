// A real trace through the emulated engine: its HBM cache must find exactly what an unbounded cache
// can find, counted here a second time in the plainest way.
#include <gtest/gtest.h>

#include <unordered_set>

#include "engine/backend_none.h"
#include "engine/emulated.h"
#include "io/sim.h"
#include "workload/trace_testing.h"

namespace forebay::engine {
namespace {

constexpr std::size_t kRequestsMax = 2000;
constexpr std::uint32_t kBlockTokens = 512;

// The leading run of full blocks seen before, never the block of the last token.
std::uint64_t findable_blocks(std::span<const workload::Request> requests) {
  std::unordered_set<std::uint64_t> seen;
  std::uint64_t found = 0;
  for (const workload::Request& request : requests) {
    const std::size_t full = request.input_tokens / kBlockTokens;
    for (std::size_t i = 0; i < (request.input_tokens - 1) / kBlockTokens; ++i) {
      if (!seen.contains(request.block_ids[i])) break;
      ++found;
    }
    for (std::size_t i = 0; i < full; ++i) seen.insert(request.block_ids[i]);
  }
  return found;
}

TEST(EmulatedTrace, MooncakeReusesInHbmWhatAnUnboundedCacheCan) {
  FOREBAY_NEEDS_TRACE(path, "mooncake/conversation_trace.jsonl");
  Diagnostics diagnostics;
  auto trace = workload::read_all(path, {}, diagnostics);
  ASSERT_TRUE(trace);
  trace->requests.resize(kRequestsMax);
  // One after another, so that nothing is computed twice at the same time.
  for (workload::Request& request : trace->requests) {
    request.arrival_ns = static_cast<std::int64_t>(request.index) * 60'000'000'000;
    request.output_tokens = 1;
  }
  EngineOptions options;
  options.kv_bytes_per_token = 8;
  options.block_tokens = kBlockTokens;
  options.hbm_kv_bytes = std::uint64_t{60'000} * 4096;
  options.prefill_tokens_per_second = 1e6;
  io::SimEngine engine{{}};
  io::Loop loop(engine);
  BackendNone none;
  const EngineResult result =
      loop.run(run_emulated(&loop, trace->requests, &none, options, nullptr, {}));
  ASSERT_EQ(result.hbm_evicted_blocks, 0U);
  std::uint64_t hits = 0;
  for (const RequestRecord& record : result.records) {
    EXPECT_EQ(record.state, RequestState::kDone);
    EXPECT_EQ(record.preemptions, 0U);
    hits += record.hbm_blocks;
  }
  EXPECT_EQ(hits, findable_blocks(trace->requests));
  EXPECT_GT(hits, 10'000U);
}

}  // namespace
}  // namespace forebay::engine
