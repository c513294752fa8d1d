#include "report/folder.h"

#include <fmt/core.h>

#include <filesystem>
#include <system_error>

namespace forebay::report {
namespace {

namespace fs = std::filesystem;

constexpr Literal kTaken = "the folder holds a result, or another run is writing one into it";
constexpr int kFoldersMax = 999;

template <class Row>
Status append_rows(const std::string& path, std::span<const Column<Row>> columns,
                   std::span<const Row> rows, std::span<const std::string_view> arms) {
  return append_file(path, csv_rows(columns, rows, arms));
}

}  // namespace

// The first log is the claim: of several runs, one begins it. run.json may stand alone where the
// logs were taken away.
Result<FolderWriter> FolderWriter::create(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) return std::unexpected(error_from_errno(error.value(), "make result folder"));
  FolderWriter folder(path);
  if (fs::exists(folder.path_of(kFactsFile), error)) return fail(Errc::kExists, kTaken);
  const Status claimed = begin_file(folder.path_of(kRequestsFile), csv_header(request_columns()));
  if (!claimed && claimed.error().code == Errc::kExists) return fail(Errc::kExists, kTaken);
  FOREBAY_TRY_STATUS(claimed);
  FOREBAY_TRY_STATUS(folder.write(kCellsFile, csv_header(cell_columns())));
  FOREBAY_TRY_STATUS(folder.write(kOpsFile, csv_header(op_columns())));
  FOREBAY_TRY_STATUS(folder.write(kTrafficFile, csv_header(traffic_columns())));
  FOREBAY_TRY_STATUS(folder.write(kLateRequestsFile, csv_header(late_request_columns())));
  FOREBAY_TRY_STATUS(folder.write(kLateCellsFile, csv_header(late_cell_columns())));
  return folder;
}

Result<FolderWriter> FolderWriter::create_free(const std::string& wanted) {
  std::string path = wanted;
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  std::error_code error;
  std::error_code ignored;
  fs::create_directories(fs::path(path).parent_path(), ignored);
  for (int i = 1; i <= kFoldersMax; ++i) {
    const std::string candidate = i == 1 ? path : fmt::format("{}-{}", path, i);
    // What another run makes at this moment is there already: the next one, then.
    if (fs::create_directory(candidate, error)) return create(candidate);
    if (!fs::exists(candidate, ignored)) break;
    error = std::make_error_code(std::errc::file_exists);
  }
  return std::unexpected(error_from_errno(error.value(), "make result folder"));
}

std::string FolderWriter::path_of(std::string_view file) const {
  return fmt::format("{}/{}", path_, file);
}

Status FolderWriter::write(std::string_view file, std::string_view text) const {
  return replace_file(path_of(file), text);
}

Status FolderWriter::append(std::span<const RequestRow> rows,
                            std::span<const std::string_view> arms) const {
  return append_rows(path_of(kRequestsFile), request_columns(), rows, arms);
}
Status FolderWriter::append(std::span<const CellRow> rows,
                            std::span<const std::string_view> arms) const {
  return append_rows(path_of(kCellsFile), cell_columns(), rows, arms);
}
Status FolderWriter::append(std::span<const OpRow> rows,
                            std::span<const std::string_view> arms) const {
  return append_rows(path_of(kOpsFile), op_columns(), rows, arms);
}
Status FolderWriter::append(std::span<const TrafficRow> rows,
                            std::span<const std::string_view> arms) const {
  return append_rows(path_of(kTrafficFile), traffic_columns(), rows, arms);
}

Status FolderWriter::append_late(std::span<const RequestRow> requests, const CellRow& cell,
                                 std::span<const std::string_view> arms) const {
  FOREBAY_TRY_STATUS(
      append_rows(path_of(kLateRequestsFile), late_request_columns(), requests, arms));
  return append_rows(path_of(kLateCellsFile), late_cell_columns(), std::span(&cell, 1), arms);
}

std::string FolderFiles::path_of(std::string_view file) const {
  return fmt::format("{}/{}", path_, file);
}

const Result<std::string>& FolderFiles::text(std::string_view file) {
  const auto found = texts_.find(file);
  if (found != texts_.end()) return found->second;
  return texts_.emplace(file, read_text(path_of(file))).first->second;
}

std::string unread_reason(const Error& error) {
  if (error.code == Errc::kNotFound) return "is missing: the run did not end, or it was removed";
  const std::string reason = fmt::format("cannot be read: {}", to_string(error));
  if (error.code != Errc::kDenied) return reason;
  return reason + ": let this user read it (`chmod u+r`), or run as its owner";
}

std::optional<RunLog> read_folder(FolderFiles& files, Diagnostics& mistakes) {
  const std::size_t before = mistakes.count();
  const std::string facts_path = files.path_of(kFactsFile);
  const Result<std::string>& facts_text = files.text(kFactsFile);
  if (!facts_text) {
    const Error error = facts_text.error();
    mistakes.add_at(facts_path, 0, fmt::format("cannot be read: {}", to_string(error)),
                    error.code == Errc::kDenied
                        ? "let this user read the folder and its files, or run as their owner"
                        : "name the folder that `forebay run` wrote");
    return std::nullopt;
  }
  auto facts = facts_from_json(facts_path, *facts_text, mistakes);
  if (!facts) return std::nullopt;
  RunLog log;
  log.facts = std::move(*facts);
  const auto read = [&](std::string_view file, auto columns, auto& rows) {
    const Result<std::string>& text = files.text(file);
    if (text) {
      rows = parse_csv(files.path_of(file), *text, columns, log.facts.arm_names(), mistakes);
    } else {
      mistakes.add(files.path_of(file), unread_reason(text.error()));
    }
  };
  read(kRequestsFile, request_columns(), log.requests);
  read(kCellsFile, cell_columns(), log.cells);
  read(kOpsFile, op_columns(), log.ops);
  read(kTrafficFile, traffic_columns(), log.traffic);
  read(kLateRequestsFile, late_request_columns(), log.late_requests);
  read(kLateCellsFile, late_cell_columns(), log.late_cells);
  if (mistakes.count() != before) return std::nullopt;
  return log;
}

std::optional<RunLog> read_folder(const std::string& path, Diagnostics& mistakes) {
  FolderFiles files(path);
  return read_folder(files, mistakes);
}

}  // namespace forebay::report
