#include "report/checks.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/crc32c.h"
#include "report/folder_names.h"
#include "report/line_changes.h"
#include "report/sums.h"
#include "report/text_lines.h"

namespace forebay::report {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array kCheckedFiles{
    kSpecFile,    kFactsFile,        kEnvironmentFile, kCellsFile,   kRequestsFile, kOpsFile,
    kTrafficFile, kLateRequestsFile, kLateCellsFile,   kSummaryFile, kHtmlFile};
constexpr std::size_t kHexDigits = 8;

// All that a run leaves; SHA256SUMS has a line of each but itself, in this order.
constexpr auto kRunFiles = [] {
  std::array<std::string_view, kCheckedFiles.size() + 2> files;
  std::ranges::copy(kCheckedFiles, files.begin());
  files[kCheckedFiles.size()] = kChecksFile;
  files[kCheckedFiles.size() + 1] = kSumsFile;
  return files;
}();

std::uint32_t crc_of(std::string_view text, std::uint32_t before = 0) {
  return crc32c(std::as_bytes(std::span(text)), before);
}

std::vector<std::string_view> cells_of(std::string_view line) {
  std::vector<std::string_view> cells;
  for (std::size_t at = 0; at <= line.size();) {
    const std::size_t end = std::min(line.find(',', at), line.size());
    cells.push_back(line.substr(at, end - at));
    at = end + 1;
  }
  return cells;
}

// The columns whose sums differ, with what the line holds there.
std::string column_change(const FileChecks& written, const FileChecks& now, std::string_view line) {
  const auto cells = cells_of(line);
  std::string names;
  std::string values;
  std::size_t count = 0;
  for (std::size_t i = 0; i < written.columns.size() && i < now.columns.size(); ++i) {
    if (written.columns[i] == now.columns[i]) continue;
    ++count;
    names += fmt::format("{}`{}`", names.empty() ? "" : ", ", written.columns[i].first);
    values += fmt::format("{}`{}`", values.empty() ? "" : ", ",
                          i < cells.size() ? shown(cells[i]) : std::string());
  }
  if (count == 0) return fmt::format("was changed after the run: `{}`", shown(line));
  return fmt::format("column{} {} changed after the run: it holds {}", count == 1 ? "" : "s",
                     names + (count == 1 ? " was" : " were"), values);
}

std::string line_change(const LineChange& change, std::string_view kind,
                        std::span<const std::string_view> lines) {
  const std::string many = change.count == 1 ? "" : fmt::format("{} ", change.count);
  const std::string_view ending = change.count == 1 ? "" : "s";
  switch (change.kind) {
    case LineChangeKind::kRemoved:
      return change.count == 1
                 ? fmt::format("the {} that was written here is missing", kind)
                 : fmt::format("the {} {}s that were written from here on are missing",
                               change.count, kind);
    case LineChangeKind::kAdded:
      return fmt::format("{}{}{} {} added after the run: `{}`", many, kind, ending,
                         change.count == 1 ? "was" : "were", shown(lines[change.at]));
    case LineChangeKind::kChanged:
      break;
  }
  return fmt::format("was changed after the run: `{}`", shown(lines[change.at]));
}

std::string hex_lines(const std::vector<std::uint32_t>& lines) {
  std::string text;
  text.reserve(lines.size() * kHexDigits);
  for (const std::uint32_t line : lines) text += fmt::format("{:08x}", line);
  return text;
}

std::optional<std::uint32_t> hex_number(std::string_view text) {
  std::uint32_t value = 0;
  const char* end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value, 16);
  if (text.size() != kHexDigits || error != std::errc{} || at != end) return std::nullopt;
  return value;
}

std::optional<FileChecks> file_checks(const Json& entry) {
  FileChecks checks;
  checks.file = entry.at("file").get<std::string>();
  const auto lines = entry.at("lines").get<std::string>();
  for (std::size_t at = 0; at < lines.size(); at += kHexDigits) {
    const auto line = hex_number(std::string_view(lines).substr(at, kHexDigits));
    if (!line) return std::nullopt;
    checks.lines.push_back(*line);
  }
  for (const auto& [name, value] : entry.at("columns").items()) {
    const auto column = hex_number(value.get<std::string>());
    if (!column) return std::nullopt;
    checks.columns.emplace_back(name, *column);
  }
  return checks;
}

// One folder against its two files of checks.
class FolderCheck {
 public:
  explicit FolderCheck(FolderFiles& files) : files_(files) {}

  std::vector<std::string> run() {
    const std::string* sums_text = text_of(kSumsFile);
    const std::string* checks = text_of(kChecksFile);
    if (sums_text == nullptr || checks == nullptr) {
      for (const std::string_view file : kCheckedFiles) (void)text_of(file);
      return std::move(changes_);
    }
    const Sums sums(*sums_text, std::span(kRunFiles).first(kCheckedFiles.size() + 1));
    for (const std::string& line : sums.strange()) note(line);
    check_sum(sums, kChecksFile, *checks, std::nullopt);
    const auto written = checks_from_json(*checks);
    for (const std::string_view file : kCheckedFiles) {
      if (const std::string* text = text_of(file)) check_sum(sums, file, *text, written);
    }
    return std::move(changes_);
  }

 private:
  using Written = std::optional<std::vector<FileChecks>>;

  // Looks at each file once. A link is refused though its bytes may be the run's: what it names can
  // change later, or stay behind when the folder is copied, and no sum of this folder would tell.
  const std::string* text_of(std::string_view file) {
    const Result<std::string>& text = files_.text(file);
    if (const auto target = link_target(files_.path_of(file))) {
      note(
          fmt::format("{}: is a symbolic link to `{}`{}: a result holds its files itself; "
                      "`cp -rL` copies the folder with what its links name",
                      file, *target, text ? "" : ", which cannot be read"));
    } else if (!text) {
      note(fmt::format("{}: {}", file, unread_reason(text.error())));
    }
    return text ? &*text : nullptr;
  }
  // `written` knows the lines of all files but checks.json. A file without a sum is held against
  // them alone.
  void check_sum(const Sums& sums, std::string_view file, std::string_view text,
                 const Written& written) {
    if (sums.hold(file, text)) return;
    switch (sums.line_ends(file, text)) {
      case LineEnds::kConverted:
        return note(
            fmt::format("{}: its lines end in CR LF and are else as they were: it was "
                        "converted after the run; copy it as it is",
                        file));
      case LineEnds::kLastNewlineLost:
        return note(fmt::format("{}: the newline behind its last line is missing", file));
      case LineEnds::kOther:
        break;
    }
    if (file != kChecksFile) return say_how(sums, file, text, written);
    if (!sums.name(file)) return;
    note(fmt::format("{}: was changed after the run, or its line in {} was", file, kSumsFile));
  }
  void say_how(const Sums& sums, std::string_view file, std::string_view text,
               const Written& written) {
    const FileChecks* checks = nullptr;
    if (written) {
      const auto found = std::ranges::find(*written, file, &FileChecks::file);
      if (found != written->end()) checks = &*found;
    }
    if (checks == nullptr && !sums.name(file)) return;
    if (checks == nullptr) return note(fmt::format("{}: was changed after the run", file));
    const auto changes = changes_of(*checks, text);
    for (const std::string& change : changes) note(change);
    if (changes.empty() && sums.name(file)) {
      note(
          fmt::format("{}: the sum of {} does not hold, though each of its lines is as it was: "
                      "the sum, or the end of a line, was changed",
                      kSumsFile, file));
    }
  }
  void note(std::string change) {
    if (changes_.size() < kChangesMax) changes_.push_back(std::move(change));
  }

  FolderFiles& files_;
  std::vector<std::string> changes_;
};

}  // namespace

FileChecks checks_of(std::string_view file, std::string_view text) {
  FileChecks checks;
  checks.file = file;
  const bool table = file.ends_with(".csv");
  for_each_line(text, [&](std::string_view line) {
    const bool header = checks.lines.empty();
    checks.lines.push_back(crc_of(line));
    if (!table) return;
    const auto cells = cells_of(line);
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (header) checks.columns.emplace_back(cells[i], 0);
      if (i >= checks.columns.size()) break;
      std::uint32_t& sum = checks.columns[i].second;
      sum = crc_of("\n", crc_of(cells[i], sum));
    }
  });
  return checks;
}

std::string checks_to_json(const std::vector<FileChecks>& files) {
  Json list = Json::array();
  for (const FileChecks& checks : files) {
    Json columns = Json::object();
    for (const auto& [name, sum] : checks.columns) columns[name] = fmt::format("{:08x}", sum);
    list.push_back({{"file", checks.file},
                    {"columns", std::move(columns)},
                    {"lines", hex_lines(checks.lines)}});
  }
  const Json json{{"format", "forebay-checks"}, {"version", kChecksVersion}, {"files", list}};
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::optional<std::vector<FileChecks>> checks_from_json(std::string_view text) {
  // The library reports a missing or mistyped member by an exception; it ends here.
  try {
    const Json json = Json::parse(text);
    if (json.at("format") != "forebay-checks" || json.at("version") != kChecksVersion) {
      return std::nullopt;
    }
    std::vector<FileChecks> files;
    for (const Json& entry : json.at("files")) {
      auto checks = file_checks(entry);
      if (!checks) return std::nullopt;
      files.push_back(std::move(*checks));
    }
    return files;
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

std::vector<std::string> changes_of(const FileChecks& written, std::string_view text) {
  const FileChecks now = checks_of(written.file, text);
  const auto found = line_changes(written.lines, now.lines, kChangesMax);
  if (found.empty()) return {};
  // A sum over a column tells what was changed while every row is there.
  const bool columns_tell = now.lines.size() == written.lines.size();
  std::vector<std::string_view> lines;
  for_each_line(text, [&](std::string_view line) { lines.push_back(line); });
  std::vector<std::string> changes;
  for (const LineChange& change : found) {
    changes.push_back(fmt::format(
        "{}:{}: {}", written.file, change.at + 1,
        change.kind == LineChangeKind::kChanged && columns_tell
            ? column_change(written, now, lines[change.at])
            : line_change(change, written.file.ends_with(".csv") ? "row" : "line", lines)));
  }
  return changes;
}

Status seal_folder(const FolderWriter& folder) {
  std::vector<FileChecks> checks;
  std::string sums;
  for (const std::string_view file : kCheckedFiles) {
    FOREBAY_TRY(text, read_text(folder.path_of(file)));
    checks.push_back(checks_of(file, text));
    sums += sum_line(file, text);
  }
  const std::string json = checks_to_json(checks);
  sums += sum_line(kChecksFile, json);
  FOREBAY_TRY_STATUS(folder.write(kChecksFile, json));
  return folder.write(kSumsFile, sums);
}

std::vector<std::string> check_folder(FolderFiles& files) { return FolderCheck(files).run(); }

std::span<const std::string_view> run_files() { return kRunFiles; }

std::vector<std::string> check_folder(const std::string& path) {
  FolderFiles files(path);
  return check_folder(files);
}

}  // namespace forebay::report
