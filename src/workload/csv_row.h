// Comma-separated rows with a header line: fields by column name, checked for range.
//
// The formats read here quote nothing; a quote is an ordinary character. Threads: values.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "workload/row_reader.h"

namespace forebay::workload {

// Which column stands where. Made from the header line.
class CsvHeader {
 public:
  // False (and a mistake) when a column of `required` is not there. Case and blanks do not count.
  [[nodiscard]] bool read(std::string_view line, std::span<const std::string_view> required,
                          Mistake& mistake);
  [[nodiscard]] bool known() const { return !names_.empty(); }
  [[nodiscard]] std::optional<std::size_t> column(std::string_view name) const;
  [[nodiscard]] std::size_t column_count() const { return names_.size(); }

 private:
  std::vector<std::string> names_;
};

// One row. Keeps the first mistake, returns zeros after it.
class CsvRow {
 public:
  CsvRow(const CsvHeader& header, std::string_view line, Mistake& mistake);
  [[nodiscard]] bool ok() const { return ok_; }
  // "" when there is no such column.
  [[nodiscard]] std::string_view text(std::string_view column) const;
  [[nodiscard]] std::uint64_t count(std::string_view column, std::uint64_t max);
  [[nodiscard]] std::uint32_t tokens(std::string_view column);
  // A number of units of `unit_ns`, as nanoseconds in [0, kTimeNsMax].
  [[nodiscard]] std::int64_t time_ns(std::string_view column, std::int64_t unit_ns);
  void mistake(std::string message, std::string hint = {});

 private:
  const CsvHeader& header_;
  std::vector<std::string_view> fields_;
  Mistake& mistake_;
  bool ok_ = true;
};

}  // namespace forebay::workload
