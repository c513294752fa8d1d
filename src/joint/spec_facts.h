// Does run.json say what spec.toml says? Both are written by a run; neither is measured.
//
// Pure. One sentence a disagreement, which names the key in both files.
#pragma once

#include <string>
#include <vector>

#include "joint/spec.h"
#include "report/facts.h"

namespace forebay::joint {

[[nodiscard]] std::vector<std::string> compare_with_spec(const report::RunFacts& facts,
                                                         const Spec& spec);

}  // namespace forebay::joint
