// `forebay report show DIR`: the table of a result, computed again from its raw logs.
#include <fmt/core.h>

#include <array>
#include <cstdio>

#include "cli/commands.h"
#include "report/html.h"
#include "report/text.h"

namespace forebay::cli {
namespace {

int show(const Invocation& call) {
  const std::string& folder = call.arguments()[0];
  const auto log = report::read_folder(folder, call.mistakes());
  if (!log) return *call.refuse();
  const report::Summary summary = report::summarise(*log);
  const std::string json = report::summary_to_json(summary, log->facts);
  if (call.json()) {
    fmt::print("{}", json);
  } else {
    fmt::print("{}", report::text_report(log->facts, summary));
  }
  const std::string summary_path = fmt::format("{}/{}", folder, report::kSummaryFile);
  const auto stored = report::read_text(summary_path);
  if (!stored) {
    fmt::print(stderr, "{}: {}: nothing to compare with\n", summary_path,
               to_string(stored.error()));
    return kExitFailed;
  }
  const auto differences = report::compare_summaries(*stored, json);
  for (const std::string& line : differences) {
    fmt::print(stderr, "{}: {}\n", summary_path, line);
  }
  if (!differences.empty()) return kExitFailed;
  if (!call.json()) fmt::print("summary.json agrees with the raw logs\n");
  return summary.valid ? kExitOk : kExitFailed;
}

}  // namespace

const Command kReportShowCommand{
    .name = "report show",
    .arguments = "DIR",
    .summary = "print a result, recomputed from its raw logs; exit 1 when its summary disagrees",
    .details =
        "Every figure is computed again from requests.csv, cells.csv and run.json, and "
        "compared with summary.json. Exit 1 when they differ, or when the run is invalid.",
    .flags = {},
    .arguments_min = 1,
    .arguments_max = 1,
    .run = show};

}  // namespace forebay::cli
