#include "report/folder.h"

#include <fmt/core.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <system_error>

namespace forebay::report {
namespace {

namespace fs = std::filesystem;

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

Status write_file(const std::string& path, std::string_view text, const char* mode) {
  File file(std::fopen(path.c_str(), mode));
  if (!file) return std::unexpected(error_from_errno(errno, "open result file"));
  const bool written = std::fwrite(text.data(), 1, text.size(), file.get()) == text.size();
  const int write_error = errno;
  if (std::fclose(file.release()) != 0) {
    return std::unexpected(error_from_errno(errno, "close result file"));
  }
  if (!written) return std::unexpected(error_from_errno(write_error, "write result file"));
  return {};
}

template <class Row>
Status append_rows(const std::string& path, std::span<const Column<Row>> columns,
                   std::span<const Row> rows, std::span<const std::string_view> arms) {
  return write_file(path, csv_rows(columns, rows, arms), "ab");
}

template <class Row>
void read_rows(const std::string& path, std::span<const Column<Row>> columns, const RunFacts& facts,
               std::vector<Row>& rows, Diagnostics& mistakes) {
  const auto text = read_text(path);
  if (!text) {
    mistakes.add_at(path, 0, fmt::format("cannot be read: {}", to_string(text.error())));
    return;
  }
  rows = parse_csv(path, *text, columns, facts.arm_names(), mistakes);
}

}  // namespace

Result<FolderWriter> FolderWriter::create(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) return std::unexpected(error_from_errno(error.value(), "make result folder"));
  FolderWriter folder(path);
  if (fs::exists(folder.path_of(kFactsFile), error)) {
    return fail(Errc::kExists, "the folder holds a result");
  }
  FOREBAY_TRY_STATUS(folder.write(kRequestsFile, csv_header(request_columns())));
  FOREBAY_TRY_STATUS(folder.write(kCellsFile, csv_header(cell_columns())));
  FOREBAY_TRY_STATUS(folder.write(kOpsFile, csv_header(op_columns())));
  FOREBAY_TRY_STATUS(folder.write(kTrafficFile, csv_header(traffic_columns())));
  return folder;
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

Status replace_file(const std::string& path, std::string_view text) {
  const std::string beside = path + ".new";
  FOREBAY_TRY_STATUS(write_file(beside, text, "wb"));
  if (std::rename(beside.c_str(), path.c_str()) == 0) return {};
  const int rename_error = errno;
  std::remove(beside.c_str());
  return std::unexpected(error_from_errno(rename_error, "rename result file"));
}

std::string free_folder(const std::string& path) {
  std::error_code error;
  std::string candidate = path;
  for (int i = 2; i <= 999 && fs::exists(candidate, error); ++i) {
    candidate = fmt::format("{}-{}", path, i);
  }
  return candidate;
}

Result<std::string> read_text(const std::string& path) {
  File file(std::fopen(path.c_str(), "rb"));
  if (!file) return std::unexpected(error_from_errno(errno, "open"));
  std::string text;
  constexpr std::size_t kChunkBytes = std::size_t{1} << 20;
  std::size_t got = kChunkBytes;
  while (got == kChunkBytes) {
    const std::size_t at = text.size();
    text.resize(at + kChunkBytes);
    got = std::fread(text.data() + at, 1, kChunkBytes, file.get());
    text.resize(at + got);
  }
  if (std::ferror(file.get()) != 0) return fail(Errc::kIo, "read");
  return text;
}

std::optional<RunLog> read_folder(const std::string& path, Diagnostics& mistakes) {
  const std::size_t before = mistakes.count();
  const auto of = [&](std::string_view file) { return fmt::format("{}/{}", path, file); };
  const auto facts_text = read_text(of(kFactsFile));
  if (!facts_text) {
    mistakes.add_at(of(kFactsFile), 0,
                    fmt::format("cannot be read: {}", to_string(facts_text.error())),
                    "name the folder that `forebay run` wrote");
    return std::nullopt;
  }
  auto facts = facts_from_json(of(kFactsFile), *facts_text, mistakes);
  if (!facts) return std::nullopt;
  RunLog log;
  log.facts = std::move(*facts);
  read_rows(of(kRequestsFile), request_columns(), log.facts, log.requests, mistakes);
  read_rows(of(kCellsFile), cell_columns(), log.facts, log.cells, mistakes);
  read_rows(of(kOpsFile), op_columns(), log.facts, log.ops, mistakes);
  read_rows(of(kTrafficFile), traffic_columns(), log.facts, log.traffic, mistakes);
  if (mistakes.count() != before) return std::nullopt;
  return log;
}

}  // namespace forebay::report
