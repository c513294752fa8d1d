#include "report/sums.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/hash.h"
#include "report/text_lines.h"

namespace forebay::report {
namespace {

std::string sum_of(std::string_view text) { return to_hex(sha256(text)); }

std::string unconverted(std::string_view text) {
  std::string lines;
  lines.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\r' || i + 1 == text.size() || text[i + 1] != '\n') lines += text[i];
  }
  return lines;
}

}  // namespace

std::string sum_line(std::string_view file, std::string_view text) {
  return fmt::format("{}  {}\n", sum_of(text), file);
}

Sums::Sums(std::string_view text, std::span<const std::string_view> files) : files_(files) {
  std::size_t count = 0;
  std::size_t converted = 0;
  for_each_line(text, [&](std::string_view line) {
    ++count;
    if (line.ends_with('\r')) {
      ++converted;
      line.remove_suffix(1);
    }
    add(line, count);
  });
  if (converted > 0) {
    strange_.push_back(fmt::format(
        "{}: {} of its {} lines end in CR LF: it was converted after the run; copy it as it is",
        kSumsFile, converted, count));
  }
  if (!text.empty() && !text.ends_with('\n')) {
    strange_.push_back(fmt::format("{}: the newline behind its last line is missing", kSumsFile));
  }
  check_order();
  check_names();
}

void Sums::add(std::string_view line, std::size_t number) {
  const std::size_t space = line.find("  ");
  const std::string_view name =
      space == std::string_view::npos ? std::string_view() : line.substr(space + 2);
  const auto file = std::ranges::find(files_, name);
  if (file == files_.end()) {
    strange_.push_back(fmt::format("{}:{}: is not a line that a run writes: `{}`", kSumsFile,
                                   number, shown(line)));
    return;
  }
  const std::string sum(line.substr(0, space));
  const auto [entry, first] = by_file_.try_emplace(*file, Entry{sum, number});
  if (first) return order_.push_back(*file);
  strange_.push_back(fmt::format(
      "{}:{}: is a second line of {}, with {}; line {} counts", kSumsFile, number, *file,
      entry->second.sum == sum ? "the same sum" : "another sum", entry->second.line));
}

// The first line that stands elsewhere: one word is enough for all that moved with it.
void Sums::check_order() {
  auto found = order_.begin();
  for (const std::string_view file : files_) {
    if (!name(file)) continue;
    if (*found != file) {
      strange_.push_back(
          fmt::format("{}:{}: is the line of {}, where a run writes that of {}: "
                      "lines were moved",
                      kSumsFile, by_file_.at(*found).line, *found, file));
      return;
    }
    ++found;
  }
}

void Sums::check_names() {
  std::string names;
  for (const std::string_view file : files_) {
    if (!name(file)) names += fmt::format("{}{}", names.empty() ? "" : ", ", file);
  }
  if (names.empty()) return;
  strange_.push_back(by_file_.empty() ? fmt::format("{}: has no line of any file", kSumsFile)
                                      : fmt::format("{}: has no line of {}", kSumsFile, names));
}

bool Sums::hold(std::string_view file, std::string_view text) const {
  const auto found = by_file_.find(file);
  return found != by_file_.end() && found->second.sum == sum_of(text);
}

LineEnds Sums::line_ends(std::string_view file, std::string_view text) const {
  if (text.contains("\r\n") && hold(file, unconverted(text))) return LineEnds::kConverted;
  if (!text.ends_with('\n') && hold(file, std::string(text) + '\n')) {
    return LineEnds::kLastNewlineLost;
  }
  return LineEnds::kOther;
}

}  // namespace forebay::report
