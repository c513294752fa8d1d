#include "joint/limits.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "core/bytes.h"
#include "inventory/environment.h"

namespace forebay::joint {
namespace {

// Of the memory that is there, what a run may take: the rest is the page cache's and others'.
constexpr double kMemoryShareMax = 0.85;

}  // namespace

Needs needs_of(const Spec& spec, const EngineSetup& setup, std::uint64_t working_set_tokens) {
  Needs needs;
  const auto scaled = [&](std::uint64_t bytes) { return scaled_bytes(bytes, spec.run.scale); };
  const std::uint64_t working_set = working_set_tokens * setup.options.kv_bytes_per_token;
  for (const ArmSpec& arm : spec.arms) {
    const bool flash = arm.kind == "forebay" || arm.kind == "files";
    const std::uint64_t flash_bytes = flash ? scaled(arm.flash_bytes) : 0;
    std::uint64_t memory = setup.options.hbm_kv_bytes;
    if (arm.kind != "recompute") memory += scaled(arm.dram_bytes);
    if (spec.run.virtual_time) memory += std::min(flash_bytes, working_set);
    needs.memory_bytes = std::max(needs.memory_bytes, memory);
    if (spec.run.virtual_time || !spec.storage.device.empty()) continue;
    // Fresh stores are removed when their cell ends; kept ones stay side by side.
    needs.disk_bytes = spec.run.state == "kept" ? needs.disk_bytes + flash_bytes
                                                : std::max(needs.disk_bytes, flash_bytes);
  }
  return needs;
}

void check_limits(const Spec& spec, const Needs& needs, const std::string& folder,
                  Diagnostics& mistakes) {
  const std::uint64_t available = inventory::capture_machine().memory_available_bytes;
  const double usable = kMemoryShareMax * static_cast<double>(available);
  if (available > 0 && static_cast<double>(needs.memory_bytes) > usable) {
    mistakes.add(
        spec.run.name,
        fmt::format("needs {} of memory (HBM and DRAM tiers); {} of {} may be used",
                    format_bytes(needs.memory_bytes),
                    format_bytes(static_cast<std::uint64_t>(usable)), format_bytes(available)),
        fmt::format("raise `scale` (now {:g}), or lower `hbm_kv_bytes` and `dram_bytes`",
                    spec.run.scale));
  }
  std::error_code error;
  std::filesystem::path at = std::filesystem::absolute(folder, error);
  while (!std::filesystem::exists(at, error) && at != at.parent_path()) at = at.parent_path();
  const auto space = std::filesystem::space(at, error);
  if (!error && needs.disk_bytes > space.available) {
    mistakes.add(spec.run.name,
                 fmt::format("needs {} on the file system of {}; {} are free",
                             format_bytes(needs.disk_bytes), folder, format_bytes(space.available)),
                 "lower `flash_bytes`, raise `scale`, or set another `path` in [storage]");
  }
}

}  // namespace forebay::joint
