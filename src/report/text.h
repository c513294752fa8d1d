// The result as a table in a terminal: what `forebay run` ends with and `report show` prints.
// Pure.
#pragma once

#include <string>

#include "report/summary.h"

namespace forebay::report {

[[nodiscard]] std::string text_report(const RunFacts& facts, const Summary& summary);

}  // namespace forebay::report
