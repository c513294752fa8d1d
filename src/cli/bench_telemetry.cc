// What measuring costs: the same store, the same reads, with its telemetry on and off in turn.
#include "cli/bench_rig.h"
#include "cli/bench_store.h"

namespace forebay::cli {
namespace {

constexpr std::size_t kRequesters = 4;
constexpr double kTelemetryBar = 0.98;

}  // namespace

Result<std::vector<BenchRow>> bench_telemetry(const StoreBench& bench) {
  FOREBAY_TRY(rig, StoreRig::make(rig_options(bench, bench.block_bytes.front())));
  FOREBAY_TRY(filled, rig->fill(fill_bytes(bench)));
  (void)filled;
  const auto speed = [&](bool on) {
    rig->store().set_telemetry(on);
    return rig->read(kRequesters, bench.round_bytes).bytes_per_second;
  };
  std::vector<double> ratio;
  for (std::size_t round = 0; round < bench.rounds; ++round) {
    // ABBA, so that drift within a round cancels.
    const double before = speed(true);
    const double without = speed(false);
    const double without_again = speed(false);
    ratio.push_back((before + speed(true)) / (without + without_again));
  }
  auto row = row_of("telemetry", "ratio", ratio);
  row.bar = Bar::kAtLeast;
  row.bar_value = kTelemetryBar;
  row.reference = "reads with telemetry on over off, one store";
  return std::vector{row};
}

}  // namespace forebay::cli
