// Chain lookups of 1,000 keys, each chain's keys spread over the whole index and none in a cache:
// the worst case, for a real chain's entries lie together. Prints microseconds at p50 and p99, of a
// hit and of a miss at the first key, and bytes of memory a block.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "core/clock.h"
#include "core/rng.h"
#include "store/cost_model.h"
#include "store/index.h"

namespace forebay::store {
namespace {

constexpr std::size_t kChainBlocks = 1000;
constexpr std::size_t kChains = 500;

BlockId id_of(std::uint64_t number) {
  BlockId id;
  for (std::size_t i = 0; i < 4; ++i) {
    const std::uint64_t word = mix64(number * 4 + i + 1);
    std::memcpy(id.digest.data() + i * 8, &word, sizeof word);
  }
  return id;
}

struct Filled {
  std::size_t blocks = 0;
  std::unique_ptr<Index> index;
};

const Index& index_of(std::size_t blocks) {
  static Filled filled;  // one at a time: the largest takes 2 GB
  if (filled.blocks != blocks) {
    filled.index.reset();
    filled.index = std::make_unique<Index>();
    for (std::size_t i = 0; i < blocks; ++i) {
      IndexEntry& entry = filled.index->entry(filled.index->insert(id_of(i)));
      entry.flash_page = 1;
      entry.data_bytes = 262144;
    }
    filled.blocks = blocks;
  }
  return *filled.index;
}

double quantile_us(std::vector<std::int64_t>& ns, double fraction) {
  const auto at = static_cast<std::size_t>(fraction * static_cast<double>(ns.size() - 1));
  std::ranges::nth_element(ns, ns.begin() + static_cast<std::ptrdiff_t>(at));
  return static_cast<double>(ns[at]) / 1000;
}

void lookup_chain(benchmark::State& state, bool present) {
  const auto blocks = static_cast<std::size_t>(state.range(0));
  const Index& index = index_of(blocks);
  Rng rng(1);
  std::vector<std::vector<BlockId>> chains(kChains);
  for (auto& chain : chains) {
    for (std::size_t i = 0; i < kChainBlocks; ++i) {
      chain.push_back(id_of(present ? rng.below(blocks) : blocks + rng.below(blocks)));
    }
  }
  const SystemClock clock;
  std::vector<std::int64_t> took_ns;
  std::size_t next = 0;
  for (auto _ : state) {
    const auto& chain = chains[next++ % kChains];
    const Nanos start = clock.now();
    WorthScan scan({.flash_start_ns = 1e5, .flash_ns_per_byte = 0.5, .prefill_ns_per_token = 1e5});
    const std::size_t run = index.walk(chain, [&](Slot, const IndexEntry& entry) {
      scan.add(entry.in_dram(), entry.data_bytes, 16);
      return true;
    });
    benchmark::DoNotOptimize(scan.worth_blocks());
    took_ns.push_back((clock.now() - start).count());
    if (run != (present ? kChainBlocks : 0)) state.SkipWithError("wrong run");
  }
  state.counters["us_p50"] = quantile_us(took_ns, 0.5);
  state.counters["us_p99"] = quantile_us(took_ns, 0.99);
  state.counters["bytes_per_block"] =
      static_cast<double>(index.memory_bytes()) / static_cast<double>(index.entry_count());
}

void hit(benchmark::State& state) { lookup_chain(state, true); }
void miss(benchmark::State& state) { lookup_chain(state, false); }

BENCHMARK(hit)->Name("lookup_1000_hit")->Arg(1'000'000)->Iterations(5000);
BENCHMARK(miss)->Name("lookup_1000_miss")->Arg(1'000'000)->Iterations(5000);
BENCHMARK(hit)->Name("lookup_1000_hit")->Arg(40'000'000)->Iterations(5000);
BENCHMARK(miss)->Name("lookup_1000_miss")->Arg(40'000'000)->Iterations(5000);

}  // namespace
}  // namespace forebay::store
