// Engine steps a second in virtual time: what decides how long a long trace simulates.
#include <benchmark/benchmark.h>

#include "engine/backend_none.h"
#include "engine/emulated.h"
#include "io/sim.h"

namespace forebay::engine {
namespace {

// `range(0)` sequences decode together for long; each prompt is one chunk.
void decode_steps(benchmark::State& state) {
  const auto batch = static_cast<std::uint64_t>(state.range(0));
  EngineOptions options;
  options.kv_bytes_per_token = 8;
  options.block_tokens = 512;
  options.hbm_kv_bytes = 64ULL << 20;
  options.sequences_max = 256;
  std::vector<workload::Request> requests(batch);
  for (std::uint64_t i = 0; i < batch; ++i) {
    requests[i].index = i;
    requests[i].input_tokens = 600;
    requests[i].output_tokens = 20000;
  }
  std::uint64_t steps = 0;
  for (auto _ : state) {
    io::SimEngine engine{{}};
    io::Loop loop(engine);
    BackendNone backend;
    const EngineResult result =
        loop.run(run_emulated(&loop, requests, &backend, options, nullptr, {}));
    steps += result.steps;
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(steps));
}
BENCHMARK(decode_steps)->Arg(1)->Arg(32)->Arg(256);

// Short requests one after another: arrival, lookup, prefill, publish, a few tokens, end.
void short_requests(benchmark::State& state) {
  constexpr std::uint64_t kCount = 20000;
  EngineOptions options;
  options.kv_bytes_per_token = 8;
  options.block_tokens = 512;
  options.hbm_kv_bytes = 64ULL << 20;
  std::vector<workload::Request> requests(kCount);
  for (std::uint64_t i = 0; i < kCount; ++i) {
    requests[i].index = i;
    requests[i].arrival_ns = static_cast<std::int64_t>(i) * 500'000'000;
    requests[i].input_tokens = 4096;
    requests[i].output_tokens = 4;
    requests[i].block_tokens = 512;
    for (std::uint64_t b = 0; b < 8; ++b) requests[i].block_ids.push_back(i % 1000 * 100 + b);
  }
  std::uint64_t steps = 0;
  for (auto _ : state) {
    io::SimEngine engine{{}};
    io::Loop loop(engine);
    BackendNone backend;
    steps += loop.run(run_emulated(&loop, requests, &backend, options, nullptr, {})).steps;
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(steps));
}
BENCHMARK(short_requests);

}  // namespace
}  // namespace forebay::engine
