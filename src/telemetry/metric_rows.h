// For tests: metrics as rows of docs/metrics.md, "| `name` | type | meaning |".
#pragma once

#include <fstream>
#include <regex>
#include <set>
#include <string>

namespace forebay::telemetry {

// One row for each family of a page of metrics.
inline std::set<std::string> metric_rows(const std::string& page) {
  std::set<std::string> rows;
  const std::regex family("# HELP (\\S+) (.*)\n# TYPE \\S+ (\\S+)\n");
  for (std::sregex_iterator at(page.begin(), page.end(), family), end; at != end; ++at) {
    rows.insert("| `" + (*at)[1].str() + "` | " + (*at)[3].str() + " | " + (*at)[2].str() + " |");
  }
  return rows;
}

// The rows of the document at `path`: those of a run (joint's), or all others (the store's).
inline std::set<std::string> documented_metric_rows(const std::string& path, bool of_a_run) {
  std::ifstream file(path);
  std::set<std::string> rows;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("| `") && line.starts_with("| `forebay_run_") == of_a_run) {
      rows.insert(line);
    }
  }
  return rows;
}

}  // namespace forebay::telemetry
