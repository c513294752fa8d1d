// Do the logs of a result agree with each other? What stands in two of them must be the same in
// both.
//
// Pure. One sentence a disagreement, with file, line and column; at most kDisagreementsMax.
#pragma once

#include <string>
#include <vector>

#include "report/folder.h"

namespace forebay::report {

inline constexpr std::size_t kDisagreementsMax = 20;

// Of cells.csv with requests.csv and traffic.csv, of each row with itself, of both with run.json,
// and of the late logs (late.h). `log` was read without mistakes, so that a row's place is its
// line.
[[nodiscard]] std::vector<std::string> cross_check(const RunLog& log);

}  // namespace forebay::report
