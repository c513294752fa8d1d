// checks.json and SHA256SUMS: what each file of a result held when its run ended.
//
// checks.json has a CRC-32C of every line of every file, and of every column of the logs: a figure
// that was changed later is named by file, line and column. SHA256SUMS is what `sha256sum -c`
// reads, checks.json included. Both reveal a change; neither proves who made it: somebody who
// changes everything alike passes. Layout: docs/formats/result-folder.md. Pure but for
// seal_folder() and check_folder(), which block on the file system.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "report/folder.h"
#include "report/sums.h"

namespace forebay::report {

inline constexpr std::string_view kChecksFile = "checks.json";
inline constexpr int kChecksVersion = 1;
inline constexpr std::size_t kChangesMax = 20;  // lines that are said of one folder

// What was written of one file, as it stands in checks.json.
struct FileChecks {
  std::string file;
  std::vector<std::uint32_t> lines;                            // CRC-32C each
  std::vector<std::pair<std::string, std::uint32_t>> columns;  // of a .csv, by name
};

[[nodiscard]] FileChecks checks_of(std::string_view file, std::string_view text);
[[nodiscard]] std::string checks_to_json(const std::vector<FileChecks>& files);
// Nothing when it is no checks.json of this version.
[[nodiscard]] std::optional<std::vector<FileChecks>> checks_from_json(std::string_view text);
// What `text` differs in from `written`, one sentence each ("cells.csv:3: column `span_ns` was
// changed after the run: it holds `12`"); nothing: in nothing.
[[nodiscard]] std::vector<std::string> changes_of(const FileChecks& written, std::string_view text);

// Writes both files beside what the folder holds; the last step of a run.
[[nodiscard]] Status seal_folder(const FolderWriter& folder);
// The names of all files that a run leaves.
[[nodiscard]] std::span<const std::string_view> run_files();
// Every change since, and every file that is missing, unreadable or a link; at most kChangesMax.
[[nodiscard]] std::vector<std::string> check_folder(FolderFiles& files);
[[nodiscard]] std::vector<std::string> check_folder(const std::string& path);

}  // namespace forebay::report
