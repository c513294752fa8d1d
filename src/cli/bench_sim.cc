// The simulator's own figure: a million distinct blocks in chains through Forebay's policy.
#include <fmt/core.h>

#include <chrono>

#include "cli/bench_store.h"
#include "core/clock.h"
#include "plan/synthetic_chains.h"

namespace forebay::cli {
namespace {

constexpr std::uint64_t kBlocks = 1'000'000;
constexpr std::uint64_t kCapacityBlocks = kBlocks / 10;
constexpr double kSecondsMax = 10;
constexpr std::size_t kRounds = 2;  // twice from one seed: the outcomes must be the same

}  // namespace

Result<std::vector<BenchRow>> bench_sim(const StoreBench& bench) {
  const SystemClock clock;
  std::vector<double> seconds;
  std::vector<plan::CacheOutcome> outcomes;
  for (std::size_t round = 0; round < kRounds; ++round) {
    const Nanos start = clock.now();
    const auto trace = plan::synthetic_chains(kBlocks, bench.seed);
    FOREBAY_TRY(outcome, plan::simulate(trace, "forebay", kCapacityBlocks));
    seconds.push_back(std::chrono::duration<double>(clock.now() - start).count());
    outcomes.push_back(outcome);
  }
  if (outcomes[0].hit_blocks != outcomes[1].hit_blocks ||
      outcomes[0].evicted_blocks != outcomes[1].evicted_blocks) {
    return fail(Errc::kCorrupt, "the simulator gave two outcomes from one seed");
  }
  BenchRow row = row_of("sim-million-blocks", "s", seconds);
  row.reference =
      fmt::format("seed {}: {} of {} accesses hit, {} evicted, twice the same", bench.seed,
                  outcomes[0].hit_blocks, outcomes[0].accessed_blocks, outcomes[0].evicted_blocks);
  row.bar = Bar::kAtMost;
  row.bar_value = kSecondsMax;
  return std::vector{row};
}

}  // namespace forebay::cli
