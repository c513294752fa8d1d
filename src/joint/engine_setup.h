// The engine of a spec: the timing tables, what the spec overrides in them, and the list of what is
// assumed, each figure with its source.
//
// Pure. Errors: Diagnostics at the line of the key that is wrong or missing.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "config/places.h"
#include "engine/emulated.h"
#include "joint/spec.h"

namespace forebay::joint {

struct EngineSetup {
  engine::EngineOptions options;  // after scale
  std::vector<report::Assumption> assumptions;
};

// `workload_block_tokens` is used where the spec names no block size; 0: it has none either.
[[nodiscard]] std::optional<EngineSetup> set_up_engine(const Spec& spec,
                                                       const config::Places& places,
                                                       std::uint32_t workload_block_tokens,
                                                       Diagnostics& mistakes);

inline constexpr std::uint32_t kBlockTokensDefault = 512;

}  // namespace forebay::joint
