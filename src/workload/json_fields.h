// Typed, range-checked fields of one JSON object; the first mistake is kept, the rest return zeros.
//
// Includes simdjson: for .cc files of formats only. Ownership: views into the parser's document.
// Threads: one owner. Errors: a Mistake that names the field.
#pragma once

#include <simdjson.h>

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "workload/row_reader.h"

namespace forebay::workload {

// The most block ids that one request may name.
inline constexpr std::size_t kBlockIdsMax = kTokensMax / kBlockTokensMin;

class JsonFields {
 public:
  JsonFields(simdjson::dom::object object, Mistake& mistake) : object_(object), mistake_(mistake) {}

  [[nodiscard]] bool ok() const { return ok_; }
  // Absent and null count as missing.
  [[nodiscard]] bool has(std::string_view key) const;

  // Required: a mistake when missing. Whole numbers may be written with a fraction of zero.
  [[nodiscard]] std::uint64_t count(std::string_view key, std::uint64_t max);
  [[nodiscard]] double number(std::string_view key, double max);  // in [0, max]
  [[nodiscard]] std::string_view text(std::string_view key);
  [[nodiscard]] std::uint32_t tokens(std::string_view key);
  // Seconds or milliseconds, `unit_ns` long, as nanoseconds in [0, kTimeNsMax].
  [[nodiscard]] std::int64_t time_ns(std::string_view key, std::int64_t unit_ns);
  // Any 64-bit integers; negative ones keep their bits. Appends.
  void ids(std::string_view key, std::vector<std::uint64_t>& ids);

  // Keeps the first.
  void mistake(std::string message, std::string hint = {});

 private:
  [[nodiscard]] std::optional<simdjson::dom::element> required(std::string_view key);

  simdjson::dom::object object_;
  Mistake& mistake_;
  bool ok_ = true;
};

// One JSON object a line. The text has LineReader's padding behind it.
class JsonLineParser {
 public:
  // nullopt: `mistake` says what is wrong with the JSON.
  [[nodiscard]] std::optional<simdjson::dom::object> parse(std::string_view text, Mistake& mistake);

 private:
  simdjson::dom::parser parser_;
};

}  // namespace forebay::workload
