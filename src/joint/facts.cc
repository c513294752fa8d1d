#include "joint/facts.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <ctime>

#include "core/bytes.h"
#include "core/clock.h"
#include "core/version.h"
#include "gate/statistics.h"
#include "joint/cell.h"
#include "report/format.h"

namespace forebay::joint {
namespace {

constexpr std::uint64_t kPageBytes = 4096;

std::string utc_now() {
  const std::time_t seconds = static_cast<std::time_t>(wall_time_ns() / 1'000'000'000);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  std::array<char, 32> text{};
  const std::size_t size = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return {text.data(), size};
}

void assume_device(const Spec& spec, report::RunFacts& facts) {
  for (const ArmSpec& arm : spec.arms) {
    if (arm.kind != "forebay") continue;
    if (arm.bytes_per_second > 0) {
      facts.assumptions.push_back({fmt::format("flash of arm {}", arm.name),
                                   report::format_rate(arm.bytes_per_second),
                                   "a throttle, given in the spec"});
    } else if (spec.run.scale != 1 && !spec.run.virtual_time) {
      facts.assumptions.push_back(
          {fmt::format("flash of arm {}", arm.name),
           fmt::format("{:g} times as fast as this machine's disk", spec.run.scale),
           "the device is not throttled, and bytes are scaled down"});
    }
  }
}

// "11.3 GB/s, 5,000 operations/s, 100 us an operation": what of it is set.
std::string throttle_text(const ArmSpec& arm) {
  std::string text;
  const auto add = [&text](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  if (arm.bytes_per_second > 0) {
    add(report::format_rate(arm.bytes_per_second) + " for reads and as much for writes");
  }
  if (arm.operations_per_second > 0) {
    add(report::format_count(arm.operations_per_second) + " operations/s");
  }
  if (arm.latency_us > 0) add(fmt::format("{:g} us more an operation", arm.latency_us));
  return text;
}

// Rates are the case's own, as those of the spec are.
void describe_disks(const Spec& spec, report::RunFacts& facts) {
  if (spec.run.virtual_time) {
    const io::SimOptions disk = virtual_disk_options(spec, 0);
    std::string rate = report::format_rate(disk.bytes_per_second * spec.run.scale);
    if (spec.run.scale != 1) {
      rate += fmt::format(" ({} as it ran, times scale {:g})",
                          report::format_rate(disk.bytes_per_second), spec.run.scale);
    }
    facts.disks.push_back(fmt::format(
        "simulated disk: {} for reads and writes together, {:g} to {:g} us an operation "
        "before its bytes, {} operations at once, no limit of operations/s",
        rate, static_cast<double>(disk.latency.count()) / 1e3,
        static_cast<double>((disk.latency + disk.jitter).count()) / 1e3, disk.ops_max));
  }
  for (const ArmSpec& arm : spec.arms) {
    const std::string throttle = arm.kind == "forebay" ? throttle_text(arm) : "";
    if (throttle.empty()) continue;
    facts.disks.push_back(fmt::format("arm {}: throttled to {}", arm.name, throttle));
  }
}

void add_notes(const Spec& spec, const EngineSetup& setup, report::RunFacts& facts) {
  const std::uint64_t block_bytes = setup.options.kv_bytes_per_token * setup.options.block_tokens;
  if (block_bytes % kPageBytes != 0) {
    facts.notes.push_back(
        fmt::format("a block has {} bytes, not a multiple of {}: the device moves more than that",
                    block_bytes, kPageBytes));
  }
  if (spec.run.rounds < gate::kPairsForInterval) {
    facts.notes.push_back(
        fmt::format("{} {} no confidence interval; {} or more do", spec.run.rounds,
                    spec.run.rounds == 1 ? "round gives" : "rounds give", gate::kPairsForInterval));
  }
  if (spec.run.requests > 0) {
    facts.notes.push_back(
        fmt::format("shortened: the first {} requests of the workload", spec.run.requests));
  }
  if (spec.run.virtual_time) {
    facts.notes.push_back(
        "virtual time: the engine, the store and its bytes are real, clock and disk are simulated; "
        "no statement about this machine's devices");
  }
  if (spec.run.warm_up_s > 0) {
    facts.notes.push_back(
        fmt::format("requests of the first {:g} s are run and not counted", spec.run.warm_up_s));
  }
  if (spec.run.prepare) {
    facts.notes.push_back(fmt::format(
        "the prompts' KV was stored before the clock started{}",
        spec.run.restart ? ", then the store was reopened: DRAM empty, flash warm" : ""));
  }
}

}  // namespace

std::string skip_reason(const Spec& spec, const ArmSpec& arm) {
  if (spec.run.virtual_time && arm.kind == "files") {
    return "its pool of threads has no virtual time";
  }
  return "";
}

report::RunFacts declare_facts(const Spec& spec, const EngineSetup& setup,
                               const LoadedWorkload& workload) {
  report::RunFacts facts;
  facts.name = spec.run.name;
  facts.forebay_version = version();
  facts.started_utc = utc_now();
  facts.seed = spec.run.seed;
  facts.rounds_wanted = spec.run.rounds;
  facts.scale = spec.run.scale;
  facts.virtual_time = spec.run.virtual_time;
  facts.candidate = spec.run.candidate;
  facts.kv_bytes_per_token = setup.options.kv_bytes_per_token;
  facts.block_tokens = setup.options.block_tokens;
  facts.workload = workload.description;
  facts.workload_varies = varies_by_round(spec);
  facts.thresholds = {spec.run.lag_ms_max, spec.run.step_lag_share_max};
  for (const ArmSpec& arm : spec.arms) {
    facts.arms.push_back({arm.name, arm.kind, "", skip_reason(spec, arm)});
  }
  facts.published = spec.published;
  facts.assumptions = setup.assumptions;
  facts.assumptions.push_back(
      {"KV of the workload",
       format_bytes(workload.working_set_tokens * setup.options.kv_bytes_per_token),
       fmt::format("distinct blocks, {} bytes a token as it runs",
                   setup.options.kv_bytes_per_token)});
  assume_device(spec, facts);
  describe_disks(spec, facts);
  facts.assumptions.insert(facts.assumptions.end(), spec.assumptions.begin(),
                           spec.assumptions.end());
  facts.notes = workload.notes;
  add_notes(spec, setup, facts);
  return facts;
}

}  // namespace forebay::joint
