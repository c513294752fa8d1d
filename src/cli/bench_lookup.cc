// Lookups in process: 1,000 chained keys among a million, all present, and all absent.
#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "cli/bench_rig.h"
#include "core/rng.h"
#include "telemetry/histogram.h"

namespace forebay::cli {
namespace {

constexpr std::size_t kChainBlocks = 1000;
constexpr std::size_t kChains = 1000;
constexpr std::size_t kLookupsPerRound = 2000;
constexpr std::size_t kBlockBytes = 512;
constexpr double kLookupBarUs = 50;
const store::KeySpace kSpace{"bench", "lookup"};

std::vector<store::BlockId> chain_ids(std::uint64_t chain) {
  std::vector<store::BlockId> ids(kChainBlocks);
  for (std::uint64_t depth = 0; depth < ids.size(); ++depth) {
    const std::array<std::uint64_t, 2> key{chain, depth};
    ids[depth] = store::make_block_id(kSpace, std::as_bytes(std::span(key)));
  }
  return ids;
}

// The same ids, each chain's from all over the index: no two neighbours were put together.
std::vector<std::vector<store::BlockId>> scattered(
    const std::vector<std::vector<store::BlockId>>& chains, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<store::BlockId> all;
  for (const auto& chain : chains) all.insert(all.end(), chain.begin(), chain.end());
  std::shuffle(all.begin(), all.end(), rng);
  std::vector<std::vector<store::BlockId>> out;
  for (std::size_t i = 0; i < chains.size(); ++i) {
    const auto first = all.begin() + static_cast<std::ptrdiff_t>(i * kChainBlocks);
    out.emplace_back(first, first + kChainBlocks);
  }
  return out;
}

Status put_chain(OpenStore& opened, store::SpaceId space, std::span<const store::BlockId> ids,
                 const BenchArena& arena) {
  std::vector<store::PutItem> items(ids.size());
  for (std::size_t i = 0; i < ids.size(); ++i) {
    items[i].id = ids[i];
    items[i].parent = i == 0 ? store::kNoParent : ids[i - 1];
    items[i].data = arena.lend(0);
    items[i].chain_depth = static_cast<std::uint32_t>(i);
  }
  opened.loop->run(opened.store->put(items, {.space = space}));
  for (const auto& item : items) FOREBAY_TRY_STATUS(item.status);
  return {};
}

struct LookupRound {
  double p50_us = 0;
  double p99_us = 0;
};

// Ids are made before the clock starts: an engine hashes a prompt once, and asks many times.
LookupRound measure(OpenStore& opened, store::SpaceId space,
                    const std::vector<std::vector<store::BlockId>>& chains, std::size_t expected,
                    std::uint64_t* wrong) {
  telemetry::Histogram latency_ns;
  for (std::size_t i = 0; i < kLookupsPerRound; ++i) {
    const auto& chain = chains[i % chains.size()];
    const Nanos start = opened.loop->now();
    const auto found = opened.store->lookup(chain, space);
    latency_ns.record(static_cast<std::uint64_t>((opened.loop->now() - start).count()));
    if (found.present_blocks != expected) ++*wrong;
  }
  return {static_cast<double>(latency_ns.quantile(0.5)) / 1e3,
          static_cast<double>(latency_ns.quantile(0.99)) / 1e3};
}

// What the machine adds by itself (ticks, other guests): the p99 of arithmetic that takes about as
// long as a lookup and touches no memory.
double arithmetic_p99_us(const io::Loop& loop, double wanted_us) {
  telemetry::Histogram latency_ns;
  volatile std::uint64_t value = 1;
  const auto run = [&](std::size_t steps) {
    const Nanos start = loop.now();
    for (std::size_t i = 0; i < steps; ++i) value = value * 3 + 1;
    return static_cast<double>((loop.now() - start).count()) / 1e3;
  };
  std::vector<double> trials;
  for (int i = 0; i < 21; ++i) trials.push_back(run(10'000));
  const auto steps = static_cast<std::size_t>(10'000 * wanted_us / median(trials));
  for (std::size_t i = 0; i < kLookupsPerRound; ++i) {
    latency_ns.record(static_cast<std::uint64_t>(run(steps) * 1e3));
  }
  return static_cast<double>(latency_ns.quantile(0.99)) / 1e3;
}

BenchRow lookup_row(const std::string& name, std::span<const double> p99, double p50,
                    std::uint64_t wrong) {
  auto row = row_of(name, "us_p99", p99);
  row.bar = Bar::kAtMost;
  row.bar_value = kLookupBarUs;
  row.reference = fmt::format("{} keys among {} blocks; p50 {:.1f} us", kChainBlocks,
                              kChainBlocks * kChains, p50);
  if (wrong != 0) {
    row.value = 1e9;
    row.reference += fmt::format("; {} WRONG answers", wrong);
  }
  return row;
}

}  // namespace

Result<std::vector<BenchRow>> bench_lookup(const StoreBench& bench) {
  OpenStore opened;
  FOREBAY_TRY(engine, io::make_engine(io::EngineChoice::kAuto));
  opened.engine = std::move(engine);
  opened.loop = std::make_unique<io::Loop>(*opened.engine);
  store::StoreOptions options;
  options.dram_bytes = kChainBlocks * kChains * 8 * kKiB;  // room for the tier's own page rounding
  options.seed = bench.seed;
  FOREBAY_TRY(store, opened.loop->run(store::Store::open(opened.loop.get(), std::move(options))));
  opened.store = std::move(store);
  FOREBAY_TRY(space, opened.store->register_space(kSpace));

  const BenchArena arena(1, kBlockBytes);
  std::vector<std::vector<store::BlockId>> present;
  std::vector<std::vector<store::BlockId>> absent;
  for (std::uint64_t chain = 0; chain < kChains; ++chain) {
    present.push_back(chain_ids(chain));
    absent.push_back(chain_ids(chain + kChains));
    FOREBAY_TRY_STATUS(put_chain(opened, space, present.back(), arena));
  }
  std::vector<double> hit_p99;
  std::vector<double> miss_p99;
  std::vector<double> machine_p99;
  std::vector<double> hit_p50;
  std::vector<double> miss_p50;
  std::vector<double> worst_p50;
  std::vector<double> worst_p99;
  const auto mixed = scattered(present, bench.seed);
  std::uint64_t wrong = 0;
  for (std::size_t round = 0; round < bench.rounds; ++round) {
    const auto hit = measure(opened, space, present, kChainBlocks, &wrong);
    machine_p99.push_back(arithmetic_p99_us(*opened.loop, hit.p50_us));
    const auto worst = measure(opened, space, mixed, kChainBlocks, &wrong);
    worst_p50.push_back(worst.p50_us);
    worst_p99.push_back(worst.p99_us);
    const auto miss = measure(opened, space, absent, 0, &wrong);
    hit_p99.push_back(hit.p99_us);
    miss_p99.push_back(miss.p99_us);
    hit_p50.push_back(hit.p50_us);
    miss_p50.push_back(miss.p50_us);
  }
  std::vector<BenchRow> rows{lookup_row("lookup", hit_p99, median(hit_p50), wrong),
                             lookup_row("lookup-miss", miss_p99, median(miss_p50), wrong)};
  rows.front().reference += fmt::format(
      "; arithmetic that takes as long: p99 {:.1f} us here; keys scattered over the whole "
      "index: p50 {:.1f} us, p99 {:.1f} us",
      median(machine_p99), median(worst_p50), median(worst_p99));
  (void)opened.loop->run(opened.store->close());
  return rows;
}

}  // namespace forebay::cli
