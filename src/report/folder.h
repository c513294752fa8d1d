// A result folder: the raw logs and facts of one run, written as it goes and read back whole.
//
//   spec.toml  run.json  environment.json  requests.csv  cells.csv  ops.csv  traffic.csv
//   late-requests.csv  late-cells.csv  summary.json  report.html
//
// Logs are appended cell by cell, so that a killed run leaves all that had ended. Layout:
// docs/formats/result-folder.md.
//
// Blocking: on the file system. Threads: one owner. Errors: kExists, kNotFound, kDenied, kIo,
// kNoSpace; reading collects Diagnostics.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "report/facts.h"
#include "report/rows.h"
#include "report/text_file.h"

namespace forebay::report {

inline constexpr std::string_view kSpecFile = "spec.toml";
inline constexpr std::string_view kFactsFile = "run.json";
inline constexpr std::string_view kEnvironmentFile = "environment.json";
inline constexpr std::string_view kRequestsFile = "requests.csv";
inline constexpr std::string_view kCellsFile = "cells.csv";
inline constexpr std::string_view kOpsFile = "ops.csv";
inline constexpr std::string_view kTrafficFile = "traffic.csv";
inline constexpr std::string_view kLateRequestsFile = "late-requests.csv";
inline constexpr std::string_view kLateCellsFile = "late-cells.csv";
inline constexpr std::string_view kSummaryFile = "summary.json";
inline constexpr std::string_view kHtmlFile = "report.html";

// Everything that figures are computed from.
struct RunLog {
  RunFacts facts;
  std::vector<RequestRow> requests;
  std::vector<CellRow> cells;
  std::vector<OpRow> ops;
  std::vector<TrafficRow> traffic;
  // Attempts that were late and done again: evidence, in no figure.
  std::vector<RequestRow> late_requests;
  std::vector<CellRow> late_cells;
};

class FolderWriter {
 public:
  // Makes `path` and its parents. kExists: it holds a result, or another run is writing one.
  [[nodiscard]] static Result<FolderWriter> create(const std::string& path);
  // In `wanted` when that is not there yet, else in the first of wanted-2, -3, ... -999.
  [[nodiscard]] static Result<FolderWriter> create_free(const std::string& wanted);
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string path_of(std::string_view file) const;

  // Whole files, replaced at once (written beside, then renamed).
  [[nodiscard]] Status write(std::string_view file, std::string_view text) const;
  [[nodiscard]] Status append(std::span<const RequestRow> rows,
                              std::span<const std::string_view> arms) const;
  [[nodiscard]] Status append(std::span<const CellRow> rows,
                              std::span<const std::string_view> arms) const;
  [[nodiscard]] Status append(std::span<const OpRow> rows,
                              std::span<const std::string_view> arms) const;
  [[nodiscard]] Status append(std::span<const TrafficRow> rows,
                              std::span<const std::string_view> arms) const;

  // A late attempt: its rows name the attempt.
  [[nodiscard]] Status append_late(std::span<const RequestRow> requests, const CellRow& cell,
                                   std::span<const std::string_view> arms) const;

 private:
  explicit FolderWriter(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

// The files of a folder, each read once and kept, so that all who look see the same bytes.
class FolderFiles {
 public:
  explicit FolderFiles(std::string path) : path_(std::move(path)) {}
  [[nodiscard]] std::string path_of(std::string_view file) const;
  // Valid as long as this is.
  [[nodiscard]] const Result<std::string>& text(std::string_view file);

 private:
  std::string path_;
  std::map<std::string, Result<std::string>, std::less<>> texts_;
};

// Why a file of a folder has no text, and what helps: "is missing: ...".
[[nodiscard]] std::string unread_reason(const Error& error);

// Facts and raw logs; nothing after noting what is missing or wrong.
[[nodiscard]] std::optional<RunLog> read_folder(FolderFiles& files, Diagnostics& mistakes);
[[nodiscard]] std::optional<RunLog> read_folder(const std::string& path, Diagnostics& mistakes);

}  // namespace forebay::report
