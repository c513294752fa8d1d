// Attempts of a cell at which the machine was late, so that the cell was done again. They are in no
// figure; they are kept, and told, so that nobody need believe that only late ones were dropped.
//
// Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "report/folder.h"
#include "report/pace.h"

namespace forebay::report {

struct LateAttempt {
  std::string arm;
  std::uint64_t variant = 0;
  std::uint64_t round = 0;
  std::uint64_t attempt = 0;  // from 1
  Pace pace;
};

// In the order of the log.
[[nodiscard]] std::vector<LateAttempt> late_attempts(const RunLog& log);
// What does not hold of the late logs, with file and line: an attempt that was not late, one that
// is missing or there twice, requests of another count.
[[nodiscard]] std::vector<std::string> check_late(const RunLog& log);

}  // namespace forebay::report
