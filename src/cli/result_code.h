// What a result comes to as an exit code: the same for the run that made it and for whoever shows
// it.
#pragma once

#include "cli/command.h"
#include "report/summary.h"

namespace forebay::cli {

[[nodiscard]] inline int result_code(const report::Summary& summary) {
  if (summary.inconclusive) return kExitInconclusive;
  if (!summary.valid) return kExitFailed;
  return summary.partial.empty() ? kExitOk : kExitInconclusive;
}

}  // namespace forebay::cli
