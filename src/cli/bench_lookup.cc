// Lookups in process: 1,000 chained keys among a million, all present, and all absent.
#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "cli/bench_rig.h"
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
  std::vector<double> hit_p50;
  std::vector<double> miss_p50;
  std::uint64_t wrong = 0;
  for (std::size_t round = 0; round < bench.rounds; ++round) {
    const auto hit = measure(opened, space, present, kChainBlocks, &wrong);
    const auto miss = measure(opened, space, absent, 0, &wrong);
    hit_p99.push_back(hit.p99_us);
    miss_p99.push_back(miss.p99_us);
    hit_p50.push_back(hit.p50_us);
    miss_p50.push_back(miss.p50_us);
  }
  std::vector<BenchRow> rows{lookup_row("lookup", hit_p99, median(hit_p50), wrong),
                             lookup_row("lookup-miss", miss_p99, median(miss_p50), wrong)};
  const auto stats = opened.store->stats();
  const std::vector<double> index{static_cast<double>(stats.index_bytes) /
                                  static_cast<double>(kChainBlocks * kChains)};
  auto index_row = row_of("index-bytes", "bytes_per_block", index);
  index_row.bar = Bar::kAtMost;
  index_row.bar_value = 64;
  index_row.reference = "index, policy and hash slots over a million blocks";
  rows.push_back(index_row);
  (void)opened.loop->run(opened.store->close());
  return rows;
}

Result<std::vector<BenchRow>> bench_telemetry(const StoreBench& bench) {
  const std::uint64_t block_bytes = bench.block_bytes.front();
  RigOptions options{.path = bench.folder + "/forebay-bench.on",
                     .size_bytes = bench.size_bytes,
                     .block_bytes = block_bytes,
                     .in_flight_bytes = bench.in_flight_bytes,
                     .chain_blocks = bench.chain_blocks,
                     .seed = bench.seed};
  FOREBAY_TRY(with, StoreRig::make(options));
  options.path = bench.folder + "/forebay-bench.off";
  options.telemetry = false;
  FOREBAY_TRY(without, StoreRig::make(options));
  FOREBAY_TRY(filled, with->fill(bench.size_bytes * 3 / 4));
  FOREBAY_TRY(filled_too, without->fill(bench.size_bytes * 3 / 4));
  (void)filled;
  (void)filled_too;
  std::vector<double> ratio;
  for (std::size_t round = 0; round < bench.rounds; ++round) {
    // ABBA, so that drift within a round cancels.
    const auto a = with->read(4, bench.round_bytes);
    const auto b = without->read(4, bench.round_bytes);
    const auto c = without->read(4, bench.round_bytes);
    const auto d = with->read(4, bench.round_bytes);
    ratio.push_back((a.bytes_per_second + d.bytes_per_second) /
                    (b.bytes_per_second + c.bytes_per_second));
  }
  auto row = row_of("telemetry", "ratio", ratio);
  row.bar = Bar::kAtLeast;
  row.bar_value = 0.98;
  row.reference = "reads with telemetry on over off";
  return std::vector{row};
}

}  // namespace forebay::cli
