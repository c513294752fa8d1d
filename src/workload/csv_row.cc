#include "workload/csv_row.h"

#include <fmt/core.h>
#include <simdjson.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

namespace forebay::workload {
namespace {

constexpr std::size_t kColumnsMax = 64;

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

std::vector<std::string_view> split(std::string_view line) {
  std::vector<std::string_view> fields;
  while (fields.size() < kColumnsMax) {
    const std::size_t comma = line.find(',');
    fields.push_back(trimmed(line.substr(0, comma)));
    if (comma == std::string_view::npos) break;
    line.remove_prefix(comma + 1);
  }
  return fields;
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return result;
}

}  // namespace

bool CsvHeader::read(std::string_view line, std::span<const std::string_view> required,
                     Mistake& mistake) {
  for (const std::string_view name : split(line)) names_.push_back(lower(name));
  for (const std::string_view name : required) {
    if (column(name)) continue;
    std::string wanted;
    for (const std::string_view item : required) {
      wanted += fmt::format("{}{}", wanted.empty() ? "" : ",", item);
    }
    mistake = {fmt::format("the header has no column `{}`", name),
               fmt::format("the first line must name {}", wanted)};
    return false;
  }
  return true;
}

std::optional<std::size_t> CsvHeader::column(std::string_view name) const {
  const auto found = std::ranges::find(names_, lower(name));
  if (found == names_.end()) return std::nullopt;
  return static_cast<std::size_t>(found - names_.begin());
}

CsvRow::CsvRow(const CsvHeader& header, std::string_view line, Mistake& mistake)
    : header_(header), fields_(split(line)), mistake_(mistake) {
  if (!simdjson::validate_utf8(line)) this->mistake("the line is not UTF-8 text");
  if (fields_.size() < header.column_count()) {
    this->mistake(
        fmt::format("{} fields where the header names {}", fields_.size(), header.column_count()),
        "is the line cut short?");
    fields_.resize(header.column_count());
  }
}

void CsvRow::mistake(std::string message, std::string hint) {
  if (!ok_) return;
  ok_ = false;
  mistake_ = {std::move(message), std::move(hint)};
}

std::string_view CsvRow::text(std::string_view column) const {
  const auto at = header_.column(column);
  return at ? fields_[*at] : std::string_view();
}

std::uint64_t CsvRow::count(std::string_view column, std::uint64_t max) {
  const std::string_view field = text(column);
  std::uint64_t value = 0;
  const char* end = field.data() + field.size();
  const auto [at, error] = std::from_chars(field.data(), end, value);
  if (error == std::errc{} && at == end && value <= max) return value;
  mistake(fmt::format("`{}` in {} is not a whole number from 0 to {}", field, column, max));
  return 0;
}

std::uint32_t CsvRow::tokens(std::string_view column) {
  return static_cast<std::uint32_t>(count(column, kTokensMax));
}

std::int64_t CsvRow::time_ns(std::string_view column, std::int64_t unit_ns) {
  const std::string_view field = text(column);
  double value = 0;
  const char* end = field.data() + field.size();
  const auto [at, error] = std::from_chars(field.data(), end, value);
  const double max = static_cast<double>(kTimeNsMax / unit_ns);
  if (error == std::errc{} && at == end && value >= 0 && value <= max) {
    return std::llround(value * static_cast<double>(unit_ns));
  }
  mistake(fmt::format("`{}` in {} is not a time from 0 to {}", field, column, max));
  return 0;
}

}  // namespace forebay::workload
