// A finished run as metrics (docs/metrics.md): its arms, and the candidate's store as
// `forebay store stat --metrics` shows one. Pure.
#pragma once

#include <string>

#include "joint/runner.h"

namespace forebay::joint {

[[nodiscard]] std::string run_metrics(const RunOutcome& outcome);

}  // namespace forebay::joint
