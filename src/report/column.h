// The raw logs as tables: a row struct of 64-bit integers, a column list, and CSV made from both.
//
// A column is said once: the writer, the reader, docs/results-columns.md and its test take name and
// meaning from the same line. Numbers are integers in the unit that ends the column's name, so a
// log survives the way through text without loss.
//
// Ownership: values. Threads: pure. Errors: parsing collects Diagnostics with file:line; a file
// with a wrong header or more than kRowsMax rows is refused as a whole.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/diagnostics.h"

namespace forebay::report {

inline constexpr std::size_t kRowsMax = std::size_t{1} << 25;
// No log holds more (nine years in nanoseconds, 256 PiB); differences of two are numbers, too.
inline constexpr std::int64_t kValueMax = std::int64_t{1} << 58;

// How a column's integers are written: as digits, or as one of a list of words.
enum class Words : std::uint8_t { kNumber, kArm, kRequestState, kCellState, kTier, kDirection };

// The words of a kind, by value; those of kArm are the run's own.
[[nodiscard]] std::span<const std::string_view> words_of(Words words,
                                                         std::span<const std::string_view> arms);

template <class Row>
struct Column {
  std::string_view name;
  std::string_view help;
  std::int64_t Row::* field = nullptr;
  Words words = Words::kNumber;
};

namespace detail {
void append_value(std::string& text, std::int64_t value, std::span<const std::string_view> words);
[[nodiscard]] std::optional<std::int64_t> parse_value(std::string_view text,
                                                      std::span<const std::string_view> words);
// Walks the lines of `text`, which may end in CR LF where a log was converted on its way. What
// follows the last newline was torn by a kill and is passed over.
class CsvLines {
 public:
  explicit CsvLines(std::string_view text) : rest_(text) {}
  [[nodiscard]] bool next();
  [[nodiscard]] std::string_view line() const { return line_; }
  [[nodiscard]] std::uint64_t number() const { return number_; }
  // The next cell of the line, or nothing after its last.
  [[nodiscard]] std::optional<std::string_view> cell();

 private:
  std::string_view rest_;
  std::string_view line_;
  std::optional<std::string_view> cells_;
  std::uint64_t number_ = 0;
};
}  // namespace detail

template <class Row>
[[nodiscard]] std::string csv_header(std::span<const Column<Row>> columns) {
  std::string text;
  for (const auto& column : columns) {
    if (!text.empty()) text += ',';
    text += column.name;
  }
  return text + '\n';
}

template <class Row>
[[nodiscard]] std::string csv_rows(std::span<const Column<Row>> columns, std::span<const Row> rows,
                                   std::span<const std::string_view> arms) {
  std::string text;
  for (const Row& row : rows) {
    for (const auto& column : columns) {
      if (&column != &columns.front()) text += ',';
      detail::append_value(text, row.*column.field, words_of(column.words, arms));
    }
    text += '\n';
  }
  return text;
}

// `file` names the text in messages. Rows that are wrong are noted and left out.
template <class Row>
[[nodiscard]] std::vector<Row> parse_csv(std::string_view file, std::string_view text,
                                         std::span<const Column<Row>> columns,
                                         std::span<const std::string_view> arms,
                                         Diagnostics& mistakes) {
  std::vector<Row> rows;
  detail::CsvLines lines(text);
  std::string wanted = csv_header(columns);
  wanted.pop_back();
  if (!lines.next() || lines.line() != wanted) {
    mistakes.add_at(file, 1, "the header is not that of this version", "it must be: " + wanted);
    return rows;
  }
  while (lines.next()) {
    if (rows.size() == kRowsMax) {
      mistakes.add_at(file, lines.number(), "more rows than a result may have");
      return rows;
    }
    Row row{};
    bool good = true;
    for (const auto& column : columns) {
      const auto cell = lines.cell();
      const auto value =
          cell ? detail::parse_value(*cell, words_of(column.words, arms)) : std::nullopt;
      if (value) {
        row.*column.field = *value;
        continue;
      }
      good = false;
      mistakes.add_at(file, lines.number(),
                      std::string("column `") + std::string(column.name) +
                          (cell ? "` holds `" + std::string(cell->substr(0, 40)) + "`"
                                : std::string("` is missing")));
      break;
    }
    if (good && lines.cell()) {
      mistakes.add_at(file, lines.number(), "more cells than columns");
      good = false;
    }
    if (good) rows.push_back(row);
  }
  return rows;
}

}  // namespace forebay::report
