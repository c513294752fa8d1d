#include "joint/sensitivity.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "config/places.h"
#include "joint/engine_setup.h"

namespace forebay::joint {
namespace {

bool all_flash_throttled(const Spec& spec) {
  return std::ranges::all_of(spec.arms, [](const ArmSpec& arm) {
    return arm.kind != "forebay" || arm.bytes_per_second > 0;
  });
}

void shrink(Spec& spec) {
  spec.run.virtual_time = true;
  spec.run.rounds = 1;
  if (!all_flash_throttled(spec)) return;
  Diagnostics ignored;
  const std::uint32_t workload_tokens =
      spec.workload.kind == "generated" ? spec.workload.generator.block_tokens : 0;
  const auto setup = set_up_engine(spec, config::Places(""), workload_tokens, ignored);
  if (!setup) return;
  const std::uint64_t block_bytes = setup->options.kv_bytes_per_token * setup->options.block_tokens;
  // Whole divisors only, so that a token keeps a whole number of bytes.
  std::uint64_t factor = 1;
  while (setup->options.kv_bytes_per_token % (2 * factor) == 0 &&
         block_bytes / (2 * factor) >= kVariantBlockBytesMin) {
    factor *= 2;
  }
  spec.run.scale *= static_cast<double>(factor);
}

}  // namespace

std::vector<VariantSpec> variant_specs(const Spec& spec, const ReadSpec& source,
                                       Diagnostics& mistakes) {
  std::vector<VariantSpec> variants;
  for (const SensitivitySpec& item : spec.sensitivity) {
    for (const std::string& value : item.values) {
      ReadSpec changed = source;
      changed.sets.push_back(fmt::format("{}={}", item.key, value));
      Diagnostics found;
      auto read = read_spec(changed, found);
      // Without this one key the spec is good: whatever is wrong stands in this section.
      for (const Diagnostic& mistake : found.kept()) {
        mistakes.add(item.place.empty() ? source.file : item.place,
                     fmt::format("[[sensitivity]] {} = {}: {}", item.key, value, mistake.message),
                     mistake.hint);
      }
      if (!read) continue;
      read->run.requests = spec.run.requests;
      shrink(*read);
      variants.push_back({{item.key, value}, std::move(*read)});
    }
  }
  return variants;
}

}  // namespace forebay::joint
