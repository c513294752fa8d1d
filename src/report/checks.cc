#include "report/checks.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/crc32c.h"
#include "core/hash.h"
#include "report/line_changes.h"

namespace forebay::report {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array kCheckedFiles{
    kSpecFile,    kFactsFile,        kEnvironmentFile, kCellsFile,   kRequestsFile, kOpsFile,
    kTrafficFile, kLateRequestsFile, kLateCellsFile,   kSummaryFile, kHtmlFile};
constexpr std::size_t kShownBytesMax = 80;
constexpr std::size_t kHexDigits = 8;

std::uint32_t crc_of(std::string_view text, std::uint32_t before = 0) {
  return crc32c(std::as_bytes(std::span(text)), before);
}

// Calls `each` with every line; what follows the last newline is one, too.
template <class Each>
void for_each_line(std::string_view text, Each each) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    each(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
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

std::string shown(std::string_view text) {
  const std::size_t begin = std::min(text.find_first_not_of(' '), text.size());
  const std::string_view trimmed = text.substr(begin);
  if (trimmed.size() <= kShownBytesMax) return std::string(trimmed);
  return std::string(trimmed.substr(0, kShownBytesMax - 3)) + "...";
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

std::string sum_of(std::string_view text) { return to_hex(sha256(text)); }

// What SHA256SUMS says: "<64 digits>  <file>" a line, each file once, and nothing else.
class Sums {
 public:
  explicit Sums(std::string_view text) {
    std::size_t number = 0;
    for_each_line(text, [&](std::string_view line) { add(line, ++number); });
  }
  [[nodiscard]] bool hold(std::string_view file, std::string_view text) const {
    const auto found = by_file_.find(file);
    return found != by_file_.end() && found->second == sum_of(text);
  }
  // Lines that no run wrote.
  [[nodiscard]] const std::vector<std::string>& strange() const { return strange_; }

 private:
  void add(std::string_view line, std::size_t number) {
    const std::size_t space = line.find("  ");
    const std::string_view file =
        space == std::string_view::npos ? std::string_view() : line.substr(space + 2);
    const bool known = file == kChecksFile || std::ranges::count(kCheckedFiles, file) > 0;
    if (known && by_file_.try_emplace(std::string(file), line.substr(0, space)).second) return;
    strange_.push_back(fmt::format(
        "{}:{}: {} `{}`", kSumsFile, number,
        known ? "is a second line of its file:" : "is not a line that a run writes:", shown(line)));
  }

  std::map<std::string, std::string, std::less<>> by_file_;
  std::vector<std::string> strange_;
};

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
    const Sums sums(*sums_text);
    for (const std::string& line : sums.strange()) note(line);
    if (!sums.hold(kChecksFile, *checks)) {
      note(fmt::format("{}: was changed after the run, or its line in {} was", kChecksFile,
                       kSumsFile));
    }
    const auto written = checks_from_json(*checks);
    for (const std::string_view file : kCheckedFiles) {
      const std::string* text = text_of(file);
      if (text != nullptr && !sums.hold(file, *text)) say_how(file, *text, written);
    }
    return std::move(changes_);
  }

 private:
  const std::string* text_of(std::string_view file) {
    const Result<std::string>& text = files_.text(file);
    if (text) return &*text;
    note(text.error().code == Errc::kNotFound
             ? fmt::format("{}: is missing: the run did not end, or it was removed", file)
             : fmt::format("{}: {}", file, to_string(text.error())));
    return nullptr;
  }
  void say_how(std::string_view file, std::string_view text,
               const std::optional<std::vector<FileChecks>>& written) {
    const FileChecks* checks = nullptr;
    if (written) {
      const auto found = std::ranges::find(*written, file, &FileChecks::file);
      if (found != written->end()) checks = &*found;
    }
    if (checks == nullptr) return note(fmt::format("{}: was changed after the run", file));
    const auto changes = changes_of(*checks, text);
    for (const std::string& change : changes) note(change);
    if (changes.empty()) {
      note(
          fmt::format("{}: the sum of {} does not hold, though each of its lines is as it was: "
                      "the sum, or the end of the last line, was changed",
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
    sums += fmt::format("{}  {}\n", sum_of(text), file);
  }
  const std::string json = checks_to_json(checks);
  sums += fmt::format("{}  {}\n", sum_of(json), kChecksFile);
  FOREBAY_TRY_STATUS(folder.write(kChecksFile, json));
  return folder.write(kSumsFile, sums);
}

std::vector<std::string> check_folder(FolderFiles& files) { return FolderCheck(files).run(); }

std::vector<std::string> check_folder(const std::string& path) {
  FolderFiles files(path);
  return check_folder(files);
}

}  // namespace forebay::report
