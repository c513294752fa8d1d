#include "joint/spec_check.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <system_error>

#include "block/device_url.h"
#include "config/places.h"
#include "config/resolve_path.h"
#include "core/bytes.h"
#include "joint/engine_setup.h"
#include "joint/flash_need.h"
#include "joint/spec_fields.h"

namespace forebay::joint {
namespace {

constexpr std::size_t kNameBytesMax = 40;

struct Check {
  Spec& spec;
  const config::Places& places;
  bool files_needed;
  Diagnostics& mistakes;

  void refuse(std::string_view key, std::string message, std::string hint = {}) const {
    mistakes.add(places.of(key), std::move(message), std::move(hint));
  }
};

// Names stand in file names and in comma-separated logs.
bool good_name(const std::string& name) {
  return !name.empty() && name.size() <= kNameBytesMax && name != "." && name != ".." &&
         std::ranges::all_of(name, [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '-' || c == '_' || c == '.';
         });
}

void check_name(const Check& check, const std::string& key, const std::string& name) {
  if (good_name(name)) return;
  check.refuse(key, fmt::format("`{}` cannot be a name", name.substr(0, 2 * kNameBytesMax)),
               fmt::format("1 to {} letters, digits, `-`, `_`, `.`", kNameBytesMax));
}

void check_run(const Check& check) {
  const RunSpec& run = check.spec.run;
  check_name(check, "run.name", run.name);
  if (run.restart && !run.prepare && run.state == "fresh") {
    check.refuse("run.restart", "`restart` without `prepare` reopens an empty store",
                 "set `prepare = true` or `state = \"kept\"`");
  }
  const StorageSpec& storage = check.spec.storage;
  if (storage.device.empty()) return;
  if (run.state == "fresh") {
    check.refuse("storage.device", "a device is never emptied for you, so its state is not fresh",
                 "set `state = \"kept\"` in [run], or name a `path` instead of a device");
  }
  const auto users = std::ranges::count(check.spec.arms, "forebay", &ArmSpec::kind);
  if (users > 1) {
    check.refuse("storage.device", fmt::format("{} arms would share one device", users),
                 "name a `path`, or keep one arm of kind forebay");
  }
}

void check_file(const Check& check) {
  const WorkloadSpec& workload = check.spec.workload;
  if (workload.file.empty()) {
    check.refuse("workload.kind", "`file` is missing in [workload]",
                 "name a trace, or set `kind = \"generated\"`");
    return;
  }
  const std::string path = config::resolve_path(check.places.file(), workload.file);
  std::error_code error;
  if (!check.files_needed || std::filesystem::exists(path, error)) return;
  const std::string get =
      workload.origin.empty() ? "" : fmt::format("get it from {}, then ", workload.origin);
  check.refuse("workload.file", fmt::format("the trace `{}` is not there", path),
               get + "say where it lies: --set workload.file=PATH");
}

void check_generated(const Check& check) {
  WorkloadSpec& workload = check.spec.workload;
  workload.generator.arrivals =
      workload::find_arrival_kind(workload.arrivals).value_or(workload::ArrivalKind::kPoisson);
  Diagnostics found;
  workload::check_options(workload.generator, found);
  for (const Diagnostic& item : found.kept()) {
    check.refuse("workload." + item.place, fmt::format("`{}` {}", item.place, item.message),
                 item.hint);
  }
}

void check_workload(const Check& check) {
  const WorkloadSpec& workload = check.spec.workload;
  if (workload.kind == "file") check_file(check);
  if (workload.kind == "generated") check_generated(check);
  if (workload.kind == "batch" && workload.shared_tokens >= workload.input_tokens) {
    check.refuse("workload.shared_tokens",
                 fmt::format("{} shared tokens leave nothing of a prompt of {}",
                             workload.shared_tokens, workload.input_tokens));
  }
}

// What is left of a rate after `scale` has to move a store's blocks within a run.
void check_rate(const Check& check, const std::string& own_key, const ArmSpec& arm) {
  constexpr double kRunsWithMin = 1024;
  const double scale = check.spec.run.scale;
  if (arm.bytes_per_second <= 0 || arm.bytes_per_second / scale >= kRunsWithMin) return;
  check.refuse(
      check.places.has(own_key) ? own_key : "storage.bytes_per_second",
      fmt::format("arm `{}`: `bytes_per_second` by `scale` {:g} leaves {:.3g} bytes a second; "
                  "it must leave {:g}",
                  arm.name, scale, arm.bytes_per_second / scale, kRunsWithMin),
      "raise it, or lower `scale`");
}

void check_arm(const Check& check, std::size_t index) {
  const ArmSpec& arm = check.spec.arms[index];
  const std::string path = fmt::format("arm.{}", index);
  const auto key = [&](std::string_view name) { return fmt::format("{}.{}", path, name); };
  if (arm.kind.empty()) {
    // A kind that was given and is unknown has its line already.
    if (!check.places.has(key("kind"))) {
      check.refuse(path, "`kind` is missing in [[arm]]", suggest("", arm_kinds()));
    }
    return;
  }
  check_name(check, key("name"), arm.name);
  for (std::size_t other = 0; other < index; ++other) {
    if (check.spec.arms[other].name == arm.name) {
      check.refuse(key("name"), fmt::format("two arms are named `{}`", arm.name),
                   "give one of them another `name`");
    }
  }
  const bool on_device = arm.kind == "forebay" && !check.spec.run.virtual_time &&
                         block::names_disk(check.spec.storage.device);
  const bool flash = arm.kind == "forebay" || arm.kind == "files";
  if (flash && arm.flash_bytes == 0 && !on_device) {
    check.refuse(path, fmt::format("arm `{}` has no `flash_bytes`", arm.name),
                 "set it here or in [storage]");
  }
  if (arm.kind == "dram" && arm.dram_bytes == 0) {
    check.refuse(path, fmt::format("arm `{}` has no `dram_bytes`", arm.name),
                 "set it here or in [storage]");
  }
  if (arm.kind == "forebay") check_rate(check, key("bytes_per_second"), arm);
  const bool throttled =
      arm.bytes_per_second > 0 || arm.operations_per_second > 0 || arm.latency_us > 0;
  if (arm.kind == "files" && throttled) {
    check.refuse(
        path,
        fmt::format("arm `{}` goes through the file system, which cannot be throttled", arm.name),
        "remove the throttle, or this arm: the comparison would not be fair");
  }
}

// Where a size was written: on the arm, or for all of them.
std::string size_place(const Check& check, std::size_t arm, std::string_view key) {
  std::string own = fmt::format("arm.{}.{}", arm, key);
  if (check.places.has(own)) return own;
  std::string common = fmt::format("storage.{}", key);
  return check.places.has(common) ? common : own;
}

std::string by_scale(std::string_view key, double scale) {
  return scale == 1 ? "" : fmt::format(" (`{}` by `scale` {:g})", key, scale);
}

// A tier of DRAM that not one block fits into. `block_bytes`: as for check_flash().
void check_dram(const Check& check, std::uint64_t block_bytes) {
  constexpr std::uint64_t kPageBytes = 4096;
  const double scale = check.spec.run.scale;
  const std::uint64_t least = round_up(std::max<std::uint64_t>(block_bytes, 1), kPageBytes);
  for (std::size_t i = 0; i < check.spec.arms.size(); ++i) {
    const ArmSpec& arm = check.spec.arms[i];
    const std::uint64_t runs_with = scaled_bytes(arm.dram_bytes, scale);
    if (arm.kind == "recompute" || arm.dram_bytes == 0 || runs_with >= least) continue;
    check.refuse(
        size_place(check, i, "dram_bytes"),
        fmt::format("arm `{}`: {}{} of DRAM hold not one block of {}", arm.name,
                    format_bytes(runs_with), by_scale("dram_bytes", scale), format_bytes(least)),
        fmt::format("`dram_bytes` of {} or more", format_bytes(static_cast<std::uint64_t>(std::ceil(
                                                      static_cast<double>(least) * scale)))));
  }
}

// A store that cannot be made would end its arm at the start of the run. `block_bytes`: 0 where
// only the trace tells.
void check_flash(const Check& check, std::uint64_t block_bytes) {
  const double scale = check.spec.run.scale;
  if (!check.spec.storage.device.empty()) return;
  for (std::size_t i = 0; i < check.spec.arms.size(); ++i) {
    const ArmSpec& arm = check.spec.arms[i];
    if (arm.kind != "forebay" || arm.flash_bytes == 0) continue;
    const std::uint64_t runs_with = scaled_bytes(arm.flash_bytes, scale);
    if (flash_holds(runs_with, block_bytes)) continue;
    const auto least = static_cast<double>(least_flash_bytes(block_bytes)) * scale;
    check.refuse(
        size_place(check, i, "flash_bytes"),
        fmt::format(
            "arm `{}`: {}{} of flash are too small for a store{}", arm.name,
            format_bytes(runs_with), by_scale("flash_bytes", scale),
            block_bytes == 0 ? "" : fmt::format(" with blocks of {}", format_bytes(block_bytes))),
        fmt::format("`flash_bytes` of {} are enough",
                    format_bytes(static_cast<std::uint64_t>(least))));
  }
}

void check_arms(const Check& check) {
  Spec& spec = check.spec;
  if (spec.arms.empty()) {
    check.refuse("arm", "there is no [[arm]]",
                 "add one for each alternative, such as [[arm]] kind = \"recompute\"");
    return;
  }
  for (std::size_t i = 0; i < spec.arms.size(); ++i) check_arm(check, i);
  // An arm of unknown kind may be the one that is named.
  if (std::ranges::count(spec.arms, "", &ArmSpec::kind) > 0) return;
  std::vector<std::string_view> names;
  for (const ArmSpec& arm : spec.arms) names.push_back(arm.name);
  if (spec.run.candidate.empty()) {
    const auto forebay = std::ranges::find(spec.arms, "forebay", &ArmSpec::kind);
    spec.run.candidate = forebay == spec.arms.end() ? spec.arms.back().name : forebay->name;
  } else if (std::ranges::find(names, spec.run.candidate) == names.end()) {
    check.refuse("run.candidate", fmt::format("no arm is named `{}`", spec.run.candidate),
                 suggest(spec.run.candidate, names));
  }
}

void check_lists(const Check& check) {
  for (std::size_t i = 0; i < check.spec.published.size(); ++i) {
    const report::PublishedRow& row = check.spec.published[i];
    const std::string path = fmt::format("published.{}", i);
    if (row.name.empty()) check.refuse(path, "`name` is missing in [[published]]");
    if (row.source.empty()) {
      check.refuse(path, "`source` is missing in [[published]]",
                   "say who measured it, where it stands, and whether it is a vendor's claim");
    }
    if (!row.ttft_s && !row.output_tokens_per_second && !row.load_bytes_per_second) {
      check.refuse(path, "a [[published]] row without a figure",
                   "give ttft_s, output_tokens_per_second or load_bytes_per_second");
    }
  }
  for (std::size_t i = 0; i < check.spec.assumptions.size(); ++i) {
    if (check.spec.assumptions[i].name.empty()) {
      check.refuse(fmt::format("assumption.{}", i), "`name` is missing in [[assumption]]");
    }
  }
  for (std::size_t i = 0; i < check.spec.sensitivity.size(); ++i) {
    const SensitivitySpec& item = check.spec.sensitivity[i];
    if (!item.key.empty() && !item.values.empty()) continue;
    check.refuse(fmt::format("sensitivity.{}", i), "[[sensitivity]] needs `key` and `values`");
  }
}

}  // namespace

void check_spec(Spec& spec, const config::Places& places, bool files_needed,
                Diagnostics& mistakes) {
  const Check check{spec, places, files_needed, mistakes};
  check_run(check);
  check_workload(check);
  check_arms(check);
  check_lists(check);
  const std::uint32_t block_tokens =
      spec.workload.kind == "generated" ? spec.workload.generator.block_tokens : 0;
  const auto setup = set_up_engine(spec, places, block_tokens, mistakes);
  const bool blocks_known = spec.workload.kind != "file" || spec.engine.block_tokens > 0;
  const std::uint64_t block_bytes =
      setup && blocks_known ? setup->options.kv_bytes_per_token * setup->options.block_tokens : 0;
  check_dram(check, block_bytes);
  check_flash(check, block_bytes);
}

}  // namespace forebay::joint
