// report.html: the whole result on one page that needs no network, in light and dark.
//
// Everything shown is computed from the log; text from outside is escaped. Pure.
#pragma once

#include <string>
#include <string_view>

#include "report/summary.h"

namespace forebay::report {

[[nodiscard]] std::string html_report(const RunLog& log, const Summary& summary,
                                      std::string_view environment_json);

}  // namespace forebay::report
