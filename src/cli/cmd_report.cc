// `forebay report show DIR`: the table of a result, computed again from its raw logs.
#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/result_code.h"
#include "cli/standard_error.h"
#include "joint/spec_facts.h"
#include "report/checks.h"
#include "report/cross_check.h"
#include "report/folder_names.h"
#include "report/text.h"

namespace forebay::cli {
namespace {

void add_lines(std::vector<std::string>& lines, std::vector<std::string> more) {
  for (std::string& line : more) lines.push_back(std::move(line));
}

// run.json against spec.toml; a spec.toml that is missing has its line already.
std::vector<std::string> spec_differences(report::FolderFiles& files,
                                          const report::RunFacts& facts) {
  const auto& text = files.text(report::kSpecFile);
  if (!text) return {};
  joint::ReadSpec source;
  source.file = files.path_of(report::kSpecFile);
  source.files_needed = false;
  source.text = *text;
  Diagnostics mistakes;
  const auto spec = joint::read_spec(source, mistakes);
  if (spec) return joint::compare_with_spec(facts, *spec);
  std::vector<std::string> lines;
  for (const Diagnostic& item : mistakes.kept()) {
    lines.push_back(fmt::format("{}: {}: {}", report::kSpecFile, item.place, item.message));
  }
  return lines;
}

std::vector<std::string> summary_differences(report::FolderFiles& files, const std::string& json) {
  const auto& stored = files.text(report::kSummaryFile);
  if (!stored) return {};
  std::vector<std::string> lines;
  for (const std::string& line : report::compare_summaries(*stored, json)) {
    lines.push_back(fmt::format("{}: {}", report::kSummaryFile, line));
  }
  return lines;
}

// The summary, what stands beside the run's files, and what differs: all are one document.
std::string with_differences(const std::string& summary, const report::ForeignNames& foreign,
                             const std::vector<std::string>& lines) {
  auto json = nlohmann::ordered_json::parse(summary);
  json["foreign_files"] = foreign.names;
  json["differences"] = lines;
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

void say_differences(const std::string& folder, const std::vector<std::string>& differences) {
  std::fflush(stdout);
  for (const std::string& line : differences) tell("{}/{}\n", folder, line);
}

// Files that no run wrote: told of, since whoever reads the folder may take them for its result.
void say_foreign(const report::ForeignNames& foreign) {
  if (foreign.count == 0) return;
  constexpr std::size_t kShown = 5;
  std::string names;
  for (std::size_t i = 0; i < std::min(foreign.names.size(), kShown); ++i) {
    names += fmt::format("{}{}", i == 0 ? "" : ", ", printable(foreign.names[i]));
  }
  if (foreign.count > kShown) names += fmt::format(" and {} more", foreign.count - kShown);
  fmt::print("note: not of the run, and not looked at: {}\n", names);
}

// The logs cannot be summed up. A folder without run.json is no result at all: a mistake of whoever
// named it.
int unreadable(const Invocation& call, report::FolderFiles& files) {
  const int code = call.refuse().value_or(kExitFailed);
  if (!files.text(report::kFactsFile)) return code;
  const std::string& folder = call.arguments()[0];
  std::vector<std::string> differences = report::check_folder(files);
  for (const Diagnostic& said : call.mistakes().kept()) {
    std::erase_if(differences, [&](const std::string& line) {
      return fmt::format("{}/{}", folder, line) == fmt::format("{}: {}", said.place, said.message);
    });
  }
  say_differences(folder, differences);
  return kExitFailed;
}

int show(const Invocation& call) {
  const std::string& folder = call.arguments()[0];
  report::FolderFiles files(folder);
  const auto log = report::read_folder(files, call.mistakes());
  if (!log) return unreadable(call, files);
  const report::Summary summary = report::summarise(*log);
  const std::string json = report::summary_to_json(summary, log->facts);
  std::vector<std::string> differences = report::check_folder(files);
  add_lines(differences, summary_differences(files, json));
  add_lines(differences, report::cross_check(*log));
  add_lines(differences, spec_differences(files, log->facts));
  // A folder that may be read but not listed: its files are all there is to say.
  const auto foreign =
      report::foreign_names(folder, report::run_files()).value_or(report::ForeignNames{});
  if (call.json()) {
    fmt::print("{}", with_differences(json, foreign, differences));
  } else {
    fmt::print("{}", report::text_report(log->facts, summary));
    say_foreign(foreign);
  }
  say_differences(folder, differences);
  if (!differences.empty()) return kExitFailed;
  if (!call.json()) {
    fmt::print("summary.json agrees with the raw logs, and every file is as the run left it\n");
  }
  return result_code(summary);
}

}  // namespace

const Command kReportShowCommand{
    .name = "report show",
    .arguments = "DIR",
    .summary = "print a result, recomputed from its raw logs; exit 1 when anything disagrees",
    .details =
        "Every figure is computed again from the raw logs and compared with summary.json; the logs "
        "are held against each other, run.json against spec.toml, and every file against what "
        "checks.json and SHA256SUMS say was written; a file must be there itself, not a link to "
        "it. "
        "What differs is named by file, line and column; with --json, under `differences`. Files "
        "that are not of the run are told of (`foreign_files`) and change nothing. Exit 1 when "
        "anything differs or is missing, or "
        "when the run is invalid; 2 when DIR holds no run.json, so no result; 3 when the run was "
        "stopped early, or is invalid only since requests or steps were late.",
    .flags = {},
    .arguments_min = 1,
    .arguments_max = 1,
    .run = show};

}  // namespace forebay::cli
