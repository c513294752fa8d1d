// Does this machine hold what a spec asks for? Memory and disk space, asked before anything runs.
//
// Blocking: small files of the kernel. Errors: Diagnostics with what is needed and what there is.
#pragma once

#include <string>

#include "joint/engine_setup.h"
#include "joint/spec.h"

namespace forebay::joint {

struct Needs {
  std::uint64_t memory_bytes = 0;  // of the largest cell
  std::uint64_t disk_bytes = 0;    // at one time
};

// Virtual time keeps flash in memory, as much of it as is written: the workload's distinct blocks.
[[nodiscard]] Needs needs_of(const Spec& spec, const EngineSetup& setup,
                             std::uint64_t working_set_tokens);
// `folder`: where the stores go (or its nearest parent that exists).
void check_limits(const Spec& spec, const Needs& needs, const std::string& folder,
                  Diagnostics& mistakes);

}  // namespace forebay::joint
