// What a run declares about itself before it starts: arms, thresholds, assumptions, notes.
//
// Pure but for the wall clock that stamps it.
#pragma once

#include <string>

#include "joint/engine_setup.h"
#include "joint/spec.h"
#include "joint/workload_setup.h"

namespace forebay::joint {

// Why this arm cannot run under this spec; "": it can.
[[nodiscard]] std::string skip_reason(const Spec& spec, const ArmSpec& arm);

[[nodiscard]] report::RunFacts declare_facts(const Spec& spec, const EngineSetup& setup,
                                             const LoadedWorkload& workload);

}  // namespace forebay::joint
