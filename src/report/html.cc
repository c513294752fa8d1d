#include "report/html.h"

#include "report/text.h"

namespace forebay::report {

std::string html_report(const RunLog& log, const Summary& summary, std::string_view) {
  return "<pre>" + text_report(log.facts, summary) + "</pre>";
}

}  // namespace forebay::report
