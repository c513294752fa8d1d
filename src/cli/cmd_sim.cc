// `forebay sim`: what each policy would hit on a trace, beside Belady's limit.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/json_text.h"
#include "cli/standard_error.h"
#include "plan/prefix_cache.h"
#include "plan/synthetic_chains.h"
#include "workload/reader.h"

namespace forebay::cli {
namespace {

struct SimInput {
  plan::BlockTrace trace;
  std::vector<std::string> notes;
};

std::optional<SimInput> read_trace(const Invocation& call) {
  Diagnostics mistakes;
  workload::ReadOptions options;
  options.format = call.text("--format");
  options.seed = call.count("--seed");
  const auto trace = workload::read_all(call.text("--trace"), options, mistakes);
  if (!mistakes.empty()) tell_lines(mistakes.text());
  if (!trace) return std::nullopt;
  SimInput input;
  input.notes = trace->notes;
  plan::BlockTraceBuilder builder;
  std::vector<std::string> models;
  for (const workload::Request& request : trace->requests) {
    auto model = std::ranges::find(models, request.model);
    if (model == models.end()) model = models.insert(models.end(), request.model);
    builder.add(request.block_ids, static_cast<std::uint16_t>(model - models.begin()),
                std::max(1U, request.block_tokens));
  }
  input.trace = builder.take();
  if (input.trace.blocks.empty()) {
    tell("{}: no request names its blocks, so nothing can be said about reuse\n",
         call.text("--trace"));
    return std::nullopt;
  }
  return input;
}

// "1000" blocks, or "3%" of the distinct blocks.
std::optional<std::uint64_t> parse_capacity(const std::string& text, std::uint64_t unique_blocks) {
  double number = 0;
  const char* end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || !(number > 0) || number > 1e12) return std::nullopt;
  const std::string_view rest(at, static_cast<std::size_t>(end - at));
  if (rest.empty()) return static_cast<std::uint64_t>(number);
  if (rest != "%") return std::nullopt;
  return std::max<std::uint64_t>(
      1, static_cast<std::uint64_t>(number / 100 * static_cast<double>(unique_blocks)));
}

std::vector<std::uint64_t> capacities_of(const Invocation& call, std::uint64_t unique_blocks) {
  std::vector<std::uint64_t> capacities;
  for (const std::string& text : call.list("--capacity-blocks")) {
    if (const auto capacity = parse_capacity(text, unique_blocks)) {
      capacities.push_back(*capacity);
    } else {
      call.mistakes().add("--capacity-blocks", fmt::format("`{}` is no capacity", text),
                          "write blocks (1827) or a share of the distinct blocks (1%)");
    }
  }
  return capacities;
}

std::vector<std::string> policies_of(const Invocation& call) {
  std::vector<std::string_view> known(store::policy::policy_names().begin(),
                                      store::policy::policy_names().end());
  known.insert(known.end(), {"belady", "infinite"});
  const auto policies = call.list("--policy");
  for (const std::string& policy : policies) {
    if (std::ranges::find(known, policy) == known.end()) {
      call.mistakes().add("--policy", fmt::format("no such policy `{}`", policy),
                          suggest(policy, known));
    }
  }
  return policies;
}

nlohmann::ordered_json row_json(const plan::CacheOutcome& outcome) {
  return {{"policy", outcome.policy},
          {"capacity_blocks", outcome.capacity_blocks},
          {"hit_blocks", outcome.hit_blocks},
          {"accessed_blocks", outcome.accessed_blocks},
          {"hit_ratio", outcome.hit_ratio()},
          {"byte_hit_ratio", outcome.byte_hit_ratio()},
          {"evicted_blocks", outcome.evicted_blocks},
          {"policy_bytes", outcome.policy_bytes}};
}

// How much of the way from LRU to Belady this policy goes.
std::string gap_closed(const plan::CacheOutcome& outcome, const plan::CacheOutcome& lru,
                       const plan::CacheOutcome& belady) {
  const double gap = belady.hit_ratio() - lru.hit_ratio();
  if (gap <= 0) return "-";
  return fmt::format("{:.1f} %", (outcome.hit_ratio() - lru.hit_ratio()) / gap * 100);
}

// What the columns mean, for whoever sees only the table.
constexpr std::string_view kLegend =
    "\nhits: of all block accesses, the share that hit; a request hits its leading run of cached "
    "blocks only\n"
    "by bytes: the same, each block counted by its bytes\n"
    "gap closed: of the way from LRU's hits to those of Belady's optimum, the share that a policy "
    "goes: 0 % is LRU,\n"
    "  100 % the optimum; below 0 %: fewer hits than LRU; above 100 %: without a capacity "
    "(`infinite`); -: Belady\n"
    "  hits no more than LRU, so there is no gap to close\n";

int run_sim(const Invocation& call) {
  const auto policies = policies_of(call);
  const std::uint64_t synthetic = call.count("--synthetic-blocks");
  if (call.text("--trace").empty() == (synthetic == 0)) {
    call.mistakes().add("--trace", "give either --trace FILE or --synthetic-blocks COUNT");
  }
  if (synthetic > plan::kSyntheticBlocksMax) {
    call.mistakes().add("--synthetic-blocks",
                        fmt::format("{} is more than {}", synthetic, plan::kSyntheticBlocksMax),
                        "what a policy gains shows at a million");
  }
  if (const auto refused = call.refuse()) return *refused;
  std::optional<SimInput> input;
  if (synthetic != 0) {
    input = SimInput{plan::synthetic_chains(synthetic, call.count("--seed")), {}};
  } else {
    input = read_trace(call);
  }
  if (!input) return kExitUsage;
  const plan::BlockTrace& trace = input->trace;
  const auto capacities = capacities_of(call, trace.unique_blocks);
  if (const auto refused = call.refuse()) return *refused;

  auto rows = nlohmann::ordered_json::array();
  if (!call.json()) {
    for (const std::string& note : input->notes) fmt::print("note: {}\n", printable(note));
    fmt::print(
        "{} requests, {} block accesses, {} distinct blocks\n\n{:>10} {:<9} {:>9} {:>9} {:>12}\n",
        trace.requests.size(), trace.blocks.size(), trace.unique_blocks, "capacity", "policy",
        "hits", "by bytes", "gap closed");
  }
  for (const std::uint64_t capacity : capacities) {
    const auto lru = plan::simulate(trace, "lru", capacity).value();
    const auto belady = plan::simulate(trace, "belady", capacity).value();
    for (const std::string& policy : policies) {
      const auto outcome = policy == "lru"      ? lru
                           : policy == "belady" ? belady
                                                : plan::simulate(trace, policy, capacity).value();
      rows.push_back(row_json(outcome));
      if (call.json()) continue;
      fmt::print("{:>10} {:<9} {:>9.4f} {:>9.4f} {:>12}\n", capacity, policy, outcome.hit_ratio(),
                 outcome.byte_hit_ratio(), gap_closed(outcome, lru, belady));
    }
  }
  if (call.json()) {
    fmt::print("{}\n", json_text(rows));
  } else {
    fmt::print("{}", kLegend);
  }
  return kExitOk;
}

constexpr std::array<Flag, 6> kSimFlags{{
    {"--trace", "FILE", "", "the workload, in any format that `trace describe` reads"},
    {"--format", "NAME", "", "of the trace, when it is not recognised"},
    {"--capacity-blocks", "LIST", "1%,3%,10%,30%", "cache sizes: blocks, or % of distinct blocks"},
    {"--policy", "LIST", "lru,s3fifo,gdsf,forebay,belady", "what to compare; also: infinite"},
    {"--synthetic-blocks", "COUNT", "",
     "instead of a trace: generated chains of so many blocks, 16777216 at most"},
    {"--seed", "COUNT", "1", "of what is generated or drawn"},
}};

}  // namespace

const Command kSimCommand{
    .name = "sim",
    .arguments = "",
    .summary = "block-level cache simulation: policies beside Belady's optimum",
    .details =
        "A request hits only its leading run of cached blocks; then all of its blocks are "
        "inserted, and blocks are evicted until the capacity holds.",
    .flags = kSimFlags,
    .arguments_min = 0,
    .arguments_max = 0,
    .run = run_sim};

}  // namespace forebay::cli
