#include "joint/workload_setup.h"

#include <fmt/core.h>

#include <cmath>
#include <filesystem>
#include <utility>

#include "config/resolve_path.h"
#include "core/rng.h"
#include "joint/engine_setup.h"
#include "workload/describe.h"
#include "workload/transform.h"

namespace forebay::joint {
namespace {

std::int64_t ns_of(double seconds) { return std::llround(seconds * 1e9); }

Result<workload::Trace> read_file(const Spec& spec, const std::string& path,
                                  Diagnostics& mistakes) {
  workload::ReadOptions options;
  options.format = spec.workload.format;
  options.seed = spec.run.seed;
  FOREBAY_TRY(reader, workload::open_trace(path, options, mistakes));
  return workload::read_all(*reader);
}

Result<workload::Trace> make_batch(const Spec& spec) {
  const WorkloadSpec& batch = spec.workload;
  workload::Trace trace;
  const std::uint64_t block_tokens =
      spec.engine.block_tokens > 0 ? spec.engine.block_tokens : kBlockTokensDefault;
  const std::uint64_t blocks = (batch.input_tokens + block_tokens - 1) / block_tokens;
  const std::uint64_t shared = batch.shared_tokens / block_tokens;
  for (std::uint64_t i = 0; i < batch.batch_requests; ++i) {
    workload::Request& request = trace.requests.emplace_back();
    request.index = i;
    request.input_tokens = static_cast<std::uint32_t>(batch.input_tokens);
    request.output_tokens = static_cast<std::uint32_t>(batch.output_tokens);
    request.block_tokens = static_cast<std::uint32_t>(block_tokens);
    for (std::uint64_t b = 0; b < blocks; ++b) {
      request.block_ids.push_back(b < shared ? mix64(b) : mix64(mix64(i + 1) + b));
    }
  }
  return trace;
}

Result<workload::Trace> make_generated(const Spec& spec, std::uint64_t round) {
  workload::GeneratorOptions options = spec.workload.generator;
  options.seed = round == 0 ? spec.run.seed : mix64(spec.run.seed + round);
  return workload::read_all(*workload::generate(options));
}

void cut(const Spec& spec, workload::Trace& trace) {
  workload::Slice slice;
  if (spec.workload.kind == "file") {
    slice.from_ns = ns_of(spec.workload.from_s);
    if (spec.workload.length_s > 0) slice.to_ns = slice.from_ns + ns_of(spec.workload.length_s);
  }
  if (spec.run.requests > 0) slice.request_count_max = spec.run.requests;
  workload::slice(trace, slice);
  if (spec.workload.kind == "file" && spec.workload.speed_up != 1) {
    workload::speed_up(trace, spec.workload.speed_up);
    trace.notes.push_back(fmt::format("arrivals and waits come {:g} times as fast as recorded",
                                      spec.workload.speed_up));
  }
}

std::string describe_line(const Spec& spec, const LoadedWorkload& loaded,
                          const workload::Description& facts) {
  std::string what = spec.workload.kind;
  if (what == "file") {
    what = fmt::format("{} ({}, from {:g} s, {:g}x as fast)",
                       std::filesystem::path(spec.workload.file).filename().string(), facts.format,
                       spec.workload.from_s, spec.workload.speed_up);
  }
  return fmt::format(
      "{}: {} requests that arrive within {:.1f} s, {:.0f} tokens of input and {:.0f} of output "
      "each (mean), "
      "{:.1f} % of blocks seen before, {:.2f} M tokens of distinct blocks",
      what, loaded.requests.size(), static_cast<double>(facts.span_ns) / 1e9,
      facts.input_tokens.mean, facts.output_tokens.mean, 100 * facts.infinite_hit_ratio,
      static_cast<double>(facts.working_set_tokens) / 1e6);
}

}  // namespace

bool varies_by_round(const Spec& spec) { return spec.workload.kind == "generated"; }

std::optional<LoadedWorkload> load_workload(const Spec& spec, const std::string& spec_file,
                                            std::uint64_t round, Diagnostics& mistakes) {
  const std::size_t before = mistakes.count();
  const std::string path = config::resolve_path(spec_file, spec.workload.file);
  Result<workload::Trace> trace = spec.workload.kind == "file"    ? read_file(spec, path, mistakes)
                                  : spec.workload.kind == "batch" ? make_batch(spec)
                                                                  : make_generated(spec, round);
  if (!trace) {
    if (mistakes.count() == before) mistakes.add(path, to_string(trace.error()));
    return std::nullopt;
  }
  cut(spec, *trace);
  if (trace->requests.empty()) {
    mistakes.add(spec_file, "the workload has no requests",
                 "look at `from_s`, `length_s` and `requests`");
    return std::nullopt;
  }
  LoadedWorkload loaded;
  loaded.requests = std::move(trace->requests);
  loaded.notes = std::move(trace->notes);
  if (trace->skipped_count > 0) {
    loaded.notes.push_back(
        fmt::format("{} lines of the trace were malformed and left out", trace->skipped_count));
  }
  workload::Describer describer;
  for (const workload::Request& request : loaded.requests) describer.add(request);
  workload::Description facts = describer.finish(0);
  facts.format = trace->format;
  loaded.block_tokens = facts.block_tokens;
  loaded.working_set_tokens = facts.working_set_tokens;
  loaded.description = describe_line(spec, loaded, facts);
  if (loaded.block_tokens == 0) {
    loaded.notes.push_back("the workload names no blocks, so no two requests share any");
  }
  return loaded;
}

}  // namespace forebay::joint
