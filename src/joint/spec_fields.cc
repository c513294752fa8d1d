#include "joint/spec_fields.h"

#include <array>

#include "gate/statistics.h"
#include "workload/reader.h"

namespace forebay::joint {
namespace {

constexpr std::uint64_t kTokensMax = std::uint64_t{1} << 24;
constexpr std::uint64_t kSizeMax = std::uint64_t{1} << 50;
constexpr double kYearS = 365.0 * 86'400;
constexpr double kDayS = 86'400;
// What a clock of nanoseconds holds, and some: seconds of a trace may count from 1970.
constexpr NumberRange kTraceS{0, 100 * kYearS};
// A drive or a network slower than that is none that serves KV; 0: no limit.
constexpr NumberRange kByteRate{1 << 20, 1e15, true};
constexpr NumberRange kOperationRate{1, 1e9, true};
constexpr NumberRange kSigma{0, 10};

constexpr std::array<std::string_view, 2> kStates{"fresh", "kept"};
constexpr std::array<std::string_view, 3> kWorkloadKinds{"file", "generated", "batch"};
constexpr std::array<std::string_view, 4> kArmKinds{"recompute", "dram", "files", "forebay"};
constexpr std::array<std::string_view, 4> kPolicies{"forebay", "lru", "s3fifo", "gdsf"};
constexpr std::array<std::string_view, 2> kAdmissions{"all", "reuse"};

// The generator's own types are narrower than a spec's integers.
void count32(FieldVisitor& visitor, const Key& key, std::uint32_t& value, CountRange range) {
  std::uint64_t wide = value;
  visitor.count(key, wide, range);
  value = static_cast<std::uint32_t>(wide);
}

void visit_file(FieldVisitor& v, WorkloadSpec& w) {
  v.text({"file", "a trace, relative to this spec; .zst and .gz are read as they are"}, w.file);
  v.text({"origin", "where to get the file, for whoever has it not"}, w.origin);
  v.word({"format", "of the trace; absent: recognised"}, w.format, workload::trace_format_names());
  v.number({"from_s", "start of the slice, in the trace's own time"}, w.from_s, kTraceS);
  v.number({"length_s", "length of the slice, in the trace's own time; 0: to the end"}, w.length_s,
           kTraceS);
  v.number({"speed_up", "arrivals and waits come this many times as fast"}, w.speed_up,
           {1e-3, 1e6});
}

void visit_generated(FieldVisitor& v, WorkloadSpec& w) {
  auto& g = w.generator;
  v.count({"request_count", "requests to make"}, g.request_count, {1, workload::kRequestsMax});
  v.word({"arrivals", "how sessions begin"}, w.arrivals, workload::arrival_kind_names());
  v.number({"sessions_per_s", "sessions that begin, a second"}, g.sessions_per_s, {0.001, 1e6});
  v.number({"gap_cv", "gamma: deviation over mean of the gaps"}, g.gap_cv, {0.01, 30});
  v.number({"on_s_mean", "on-off: mean length of a busy phase"}, g.on_s_mean, {0.001, kYearS});
  v.number({"off_s_mean", "on-off: mean length of a quiet phase"}, g.off_s_mean, {0, kYearS});
  v.number({"turns_mean", "turns of a session, geometric"}, g.turns_mean, {1, 1000});
  v.number({"tool_ratio", "share of turns that wait for a tool, not a person"}, g.tool_ratio,
           {0, 1});
  v.number({"think_s_median", "wait for a person"}, g.think_s_median, {0, kDayS});
  v.number({"tool_s_median", "wait for a tool"}, g.tool_s_median, {0, kDayS});
  v.number({"wait_sigma", "spread of both waits (of the logarithm)"}, g.wait_sigma, kSigma);
  count32(v, {"system_prompt_count", "shared beginnings, chosen by Zipf; 0: none"},
          g.system_prompt_count, {0, 1'000'000});
  count32(v, {"system_prompt_tokens", "length of each"}, g.system_prompt_tokens, {0, kTokensMax});
  v.number({"system_prompt_zipf", "exponent of the choice"}, g.system_prompt_zipf, {0, 10});
  v.number({"new_tokens_median", "tokens that a turn adds"}, g.new_tokens.median, {1, kTokensMax});
  v.number({"new_tokens_sigma", "their spread (of the logarithm)"}, g.new_tokens.sigma, kSigma);
  count32(v, {"new_tokens_max", "their bound"}, g.new_tokens.max, {1, kTokensMax});
  v.number({"output_tokens_median", "tokens of an answer"}, g.output_tokens.median,
           {1, kTokensMax});
  v.number({"output_tokens_sigma", "their spread (of the logarithm)"}, g.output_tokens.sigma,
           kSigma);
  count32(v, {"output_tokens_max", "their bound"}, g.output_tokens.max, {1, kTokensMax});
  count32(v, {"context_tokens_max", "a turn that would pass it ends the session"},
          g.context_tokens_max, {1, kTokensMax});
  count32(v, {"block_tokens", "tokens of a block identity"}, g.block_tokens, {1, kTokensMax});
}

void visit_batch(FieldVisitor& v, WorkloadSpec& w) {
  v.count({"batch_requests", "requests, all sent at once"}, w.batch_requests, {1, 1 << 20});
  v.count({"input_tokens", "prompt of each"}, w.input_tokens, {1, kTokensMax});
  v.count({"output_tokens", "answer of each"}, w.output_tokens, {1, kTokensMax});
  v.count({"shared_tokens", "leading tokens that all prompts share"}, w.shared_tokens,
          {0, kTokensMax});
}

void visit_flash(FieldVisitor& v, ArmSpec& a) {
  v.bytes({"flash_bytes", "as in [storage], for this arm"}, a.flash_bytes, {0, kSizeMax});
  v.rate({"bytes_per_second", "as in [storage], for this arm"}, a.bytes_per_second, kByteRate);
  v.number({"operations_per_second", "as in [storage], for this arm"}, a.operations_per_second,
           kOperationRate);
  v.number({"latency_us", "as in [storage], for this arm"}, a.latency_us, {0, 60e6});
}

void visit_pool(FieldVisitor& v, ArmSpec& a) {
  v.count({"read_threads", "of the pool (files)"}, a.read_threads, {1, 1024});
  v.count({"write_threads", "of the pool (files)"}, a.write_threads, {1, 1024});
  v.count({"blocks_per_job", "a request is cut into jobs of so many blocks; 0: one job (files)"},
          a.blocks_per_job, {0, 1 << 20});
}

}  // namespace

std::span<const std::string_view> workload_kinds() { return kWorkloadKinds; }
std::span<const std::string_view> arm_kinds() { return kArmKinds; }

void visit(FieldVisitor& v, RunSpec& r) {
  v.text({"name", "of the result; absent: the file's"}, r.name);
  v.count({"seed", "of the order of arms, the workload and the contents"}, r.seed, {});
  v.count({"rounds", "times that every arm runs; below 5 there are no intervals"}, r.rounds,
          {1, gate::kPairsMax});
  v.count({"requests", "at most this many of the workload; 0: all"}, r.requests, {});
  v.number({"warm_up_s", "requests that start before this are not counted"}, r.warm_up_s,
           {0, kYearS});
  v.number({"scale", "divides KV bytes, capacities and byte rates; every figure says so"}, r.scale,
           {1, 1e6});
  v.text({"output", "folder of the result; absent: out/<name>"}, r.output);
  v.word({"state", "fresh: every cell starts with an empty store; kept: with the last round's"},
         r.state, kStates);
  v.toggle({"prepare", "store the workload's prompts before the clock starts"}, r.prepare);
  v.toggle({"restart", "reopen the store after preparing: DRAM is empty, flash is warm"},
           r.restart);
  v.toggle({"virtual", "simulated disk and clock: deterministic, no device is touched"},
           r.virtual_time);
  v.text({"candidate",
          "the arm that is compared with all others; absent: the first of kind "
          "forebay"},
         r.candidate);
  v.number({"lag_ms_max", "a cell whose client lag p99 is above this is invalid"}, r.lag_ms_max,
           {});
  v.number({"step_lag_share_max", "a cell whose steps were late by more of its time is invalid"},
           r.step_lag_share_max, {0, 1});
  v.count({"late_repeats", "late cells that are done again, at most, in the whole run"},
          r.late_repeats, {0, 1000});
}

void visit(FieldVisitor& v, WorkloadSpec& w) {
  v.word({"kind", "file, generated or batch; absent: file when there is one, else generated"},
         w.kind, kWorkloadKinds);
  if (w.kind.empty() || w.kind == "file") visit_file(v, w);
  if (w.kind.empty() || w.kind == "generated") visit_generated(v, w);
  if (w.kind.empty() || w.kind == "batch") visit_batch(v, w);
}

void visit(FieldVisitor& v, EngineSpec& e) {
  v.text({"model", "whose geometry gives KV bytes and arithmetic"}, e.model);
  v.text({"accelerator", "whose rates give the engine's times"}, e.accelerator);
  v.count({"tp", "cards that serve one copy of the model"}, e.tp, {1, 1024});
  v.count({"block_tokens", "tokens of a KV block; 0: the workload's"}, e.block_tokens,
          {0, kTokensMax});
  v.bytes({"kv_bytes_per_token", "0: computed from the model"}, e.kv_bytes_per_token, {0, 1 << 30});
  v.count({"kv_element_bytes", "2: 16 bits, 1: fp8; 0: the model's"}, e.kv_element_bytes, {0, 8});
  v.number({"weight_bytes", "of one copy of the model; 0: as usually served"}, e.weight_bytes, {});
  v.bytes({"hbm_kv_bytes", "HBM left for KV; 0: computed from cards and weights"}, e.hbm_kv_bytes,
          {0, kSizeMax});
  v.number({"prefill_flops_share", "of the cards' peak that prefill reaches, where it is computed"},
           e.prefill_flops_share, {0.01, 1});
  v.number({"prefill_tokens_per_second", "0: published or computed"}, e.prefill_tokens_per_second,
           {1, 1e9, true});
  v.number({"prefill_seconds_per_token_pair",
            "attention; counts when prefill_tokens_per_second "
            "is given"},
           e.prefill_seconds_per_token_pair, {0, 1e-6});
  v.number({"decode_seconds_per_step", "0: computed"}, e.decode_seconds_per_step,
           {1e-9, 3600, true});
  v.number({"decode_seconds_per_sequence", "on top, for each sequence; 0: computed"},
           e.decode_seconds_per_sequence, {0, 60});
  v.count({"step_token_budget", "tokens computed in a step (chunked prefill)"}, e.step_token_budget,
          {1, kTokensMax});
  v.count({"sequences_max", "in the running batch"}, e.sequences_max, {1, 1 << 20});
  v.rate({"link_bytes_per_second", "host to device, all cards; 0: computed"},
         e.link_bytes_per_second, kByteRate);
  v.bytes({"load_in_flight_bytes_max", "loads beside the steps; 0: 1 GiB as it runs"},
          e.load_in_flight_bytes_max, {0, kSizeMax});
  v.bytes({"save_in_flight_bytes_max", "saves on their way; 0: 1 GiB as it runs"},
          e.save_in_flight_bytes_max, {0, kSizeMax});
  v.number({"load_deadline_s", "a load that takes longer is left behind and recomputed"},
           e.load_deadline_s, {0.001, 86400});
}

void visit(FieldVisitor& v, StorageSpec& s) {
  v.text({"path",
          "folder for the stores of the arms, emptied for fresh state; absent: in the "
          "result folder"},
         s.path);
  v.text({"device", "a raw disk or device URL instead of a file in `path` (state = \"kept\")"},
         s.device);
  v.bytes({"flash_bytes", "capacity of the flash tier, and of the folder of files"}, s.flash_bytes,
          {0, kSizeMax});
  v.bytes({"dram_bytes", "capacity of the DRAM tier of every arm that has one"}, s.dram_bytes,
          {0, kSizeMax});
  v.rate({"bytes_per_second", "the flash device is held to this; 0: as fast as it is"},
         s.bytes_per_second, kByteRate);
  v.number({"operations_per_second", "likewise"}, s.operations_per_second, kOperationRate);
  v.number({"latency_us", "added to every operation of the flash device"}, s.latency_us, {0, 60e6});
}

void visit(FieldVisitor& v, ArmSpec& a) {
  v.text({"name", "of the arm; absent: its kind"}, a.name);
  v.word({"kind",
          "recompute: HBM only; dram: a DRAM tier; files: DRAM and a file a block; "
          "forebay: DRAM and flash"},
         a.kind, kArmKinds);
  const bool any = a.kind.empty();
  const bool files = any || a.kind == "files";
  const bool forebay = any || a.kind == "forebay";
  if (any || a.kind != "recompute") {
    v.bytes({"dram_bytes", "as in [storage], for this arm"}, a.dram_bytes, {0, kSizeMax});
  }
  if (files || forebay) visit_flash(v, a);
  if (any || a.kind != "recompute") {
    v.word({"policy",
            "of eviction; absent: lru for dram and files, as engines' own tiers, else forebay"},
           a.policy, kPolicies);
  }
  if (forebay) v.word({"admission", "to flash (forebay)"}, a.admission, kAdmissions);
  if (files) visit_pool(v, a);
}

void visit(FieldVisitor& v, report::PublishedRow& row) {
  v.text({"name", "of the row"}, row.name);
  v.text({"source", "who measured it, where it stands, and whether it is a vendor's claim"},
         row.source);
  v.maybe({"ttft_s", "mean TTFT"}, row.ttft_s);
  v.maybe({"output_tokens_per_second", "tokens generated a second"}, row.output_tokens_per_second);
  v.maybe({"load_bytes_per_second", "KV bytes loaded a second"}, row.load_bytes_per_second);
}

void visit(FieldVisitor& v, report::Assumption& item) {
  v.text({"name", "what is assumed"}, item.name);
  v.text({"value", "the figure"}, item.value);
  v.text({"source", "why this figure"}, item.source);
}

void visit(FieldVisitor& v, SensitivitySpec& item) {
  v.text({"key", "a key of this spec that holds a number, such as workload.input_tokens"},
         item.key);
  v.texts({"values", "what it is set to, one re-run each (virtual time, one round)"}, item.values);
}

}  // namespace forebay::joint
