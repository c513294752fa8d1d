#include "joint/cell_rows.h"

namespace forebay::joint {
namespace {

constexpr auto kDram = static_cast<std::size_t>(store::Tier::kDram);
constexpr auto kFlash = static_cast<std::size_t>(store::Tier::kFlash);

std::int64_t wide(std::uint64_t value) { return static_cast<std::int64_t>(value); }

}  // namespace

report::RequestRow to_row(const CellKey& key, const engine::RequestRecord& record,
                          std::int64_t warm_up_ns) {
  report::RequestRow row;
  row.variant = key.variant;
  row.round = key.round;
  row.arm = key.arm;
  row.index = wide(record.index);
  row.session = wide(record.session);
  row.warm_up = record.intended_ns < warm_up_ns ? 1 : 0;
  row.state = static_cast<std::int64_t>(record.state);
  row.intended_ns = record.intended_ns;
  row.send_ns = record.send_ns;
  row.admitted_ns = record.admitted_ns;
  row.load_done_ns = record.load_done_ns;
  row.first_token_ns = record.first_token_ns;
  row.end_ns = record.end_ns;
  row.input_tokens = record.input_tokens;
  row.output_tokens = record.output_tokens;
  row.hbm_blocks = record.hbm_blocks;
  row.dram_blocks = record.tier_blocks[kDram];
  row.flash_blocks = record.tier_blocks[kFlash];
  row.recomputed_blocks = record.recomputed_blocks;
  row.dram_bytes = wide(record.tier_bytes[kDram]);
  row.flash_bytes = wide(record.tier_bytes[kFlash]);
  row.preemptions = record.preemptions;
  row.wrong_blocks = record.wrong_blocks;
  row.queue_ns = record.queue_ns;
  row.lookup_ns = record.lookup_ns;
  row.read_ns = record.read_ns;
  row.recompute_ns = record.recompute_ns;
  row.other_ns = record.other_ns;
  return row;
}

report::OpRow to_row(const CellKey& key, const engine::KvOp& op, Nanos origin) {
  report::OpRow row;
  row.variant = key.variant;
  row.round = key.round;
  row.arm = key.arm;
  row.op_id = wide(op.op_id);
  row.direction = op.write ? 1 : 0;
  row.tier = static_cast<std::int64_t>(op.tier);
  row.start_ns = (op.start - origin).count();
  row.end_ns = (op.end - origin).count();
  row.bytes = wide(op.bytes);
  row.block_count = op.block_count;
  row.failed_blocks = op.failed_blocks;
  return row;
}

void append_traffic(const CellKey& key, store::Tier tier, const TrafficMeter& meter,
                    std::vector<report::TrafficRow>& rows) {
  const std::int64_t length_ns = meter.slice_length().count();
  for (std::size_t i = 0; i < meter.slices().size(); ++i) {
    const TrafficMeter::Slice& slice = meter.slices()[i];
    if (slice.read_bytes == 0 && slice.written_bytes == 0) continue;
    rows.push_back({.variant = key.variant,
                    .round = key.round,
                    .arm = key.arm,
                    .tier = static_cast<std::int64_t>(tier),
                    .slice_start_ns = static_cast<std::int64_t>(i) * length_ns,
                    .slice_ns = length_ns,
                    .read_bytes = wide(slice.read_bytes),
                    .written_bytes = wide(slice.written_bytes)});
  }
}

void take_engine_figures(const engine::EngineResult& result, report::CellRow& row) {
  row.span_ns = result.span.count();
  row.requests = wide(result.records.size());
  row.steps = wide(result.steps);
  row.step_lag_ns_p99 = wide(result.step_lag_ns.quantile(0.99));
  row.step_lag_ns_total = static_cast<std::int64_t>(
      result.step_lag_ns.mean() * static_cast<double>(result.step_lag_ns.count()));
  row.emulator_cpu_ns = result.emulator_cpu_ns;
  row.prefill_tokens = wide(result.prefill_tokens);
  row.decode_tokens = wide(result.decode_tokens);
  row.filled_bytes = wide(result.filled_bytes);
  row.checked_bytes = wide(result.checked_bytes);
  row.saved_blocks = wide(result.saved_blocks);
  row.save_dropped_blocks = wide(result.save_dropped_blocks);
  row.load_timeouts = wide(result.load_timeouts);
  row.wrong_blocks = wide(result.wrong_blocks);
  row.hbm_evicted_blocks = wide(result.hbm_evicted_blocks);
  row.preemptions = wide(result.preemptions);
}

void take_store_figures(const store::StoreStats& stats, report::CellRow& row) {
  const auto missed = [&](store::MissReason reason) {
    return wide(stats.misses[static_cast<std::size_t>(reason)]);
  };
  row.save_refused_blocks = wide(stats.put_refused_blocks);
  row.admission_refused_blocks = wide(stats.admission_refused_blocks);
  row.corrupt_blocks = missed(store::MissReason::kCorrupt);
  row.device_errors = missed(store::MissReason::kDevice);
}

}  // namespace forebay::joint
