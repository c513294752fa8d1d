// A spec with its engine and its requests: what cells are made of.
//
// Blocking: reads the workload. Memory: the requests of one round. Errors: Diagnostics.
#pragma once

#include <optional>
#include <string>

#include "joint/engine_setup.h"
#include "joint/spec.h"
#include "joint/workload_setup.h"

namespace forebay::joint {

struct Case {
  Spec spec;
  EngineSetup setup;
  LoadedWorkload workload;  // of `round`
  std::uint64_t round = 0;
};

// Also refuses requests that can never fit into HBM: they would fail, and the run be invalid.
[[nodiscard]] std::optional<Case> load_case(const Spec& spec, const std::string& spec_file,
                                            Diagnostics& mistakes);
// Makes `test` hold the requests of `round`.
[[nodiscard]] bool move_to_round(Case& test, std::uint64_t round, const std::string& spec_file,
                                 Diagnostics& mistakes);

}  // namespace forebay::joint
