#include "workload/json_fields.h"

#include <fmt/core.h>

#include <cmath>
#include <utility>

namespace forebay::workload {
namespace {

static_assert(LineReader::kPaddingBytes >= simdjson::SIMDJSON_PADDING);

// A whole number in [0, 2^64), however it is written.
std::optional<std::uint64_t> whole_number(simdjson::dom::element value) {
  std::uint64_t whole = 0;
  if (value.get(whole) == simdjson::SUCCESS) return whole;
  double real = 0;
  if (value.get(real) != simdjson::SUCCESS) return std::nullopt;
  // 2^53: beyond it a double no longer names one integer.
  if (!(real >= 0 && real <= 0x1p53) || real != std::floor(real)) return std::nullopt;
  return static_cast<std::uint64_t>(real);
}

}  // namespace

void JsonFields::mistake(std::string message, std::string hint) {
  if (!ok_) return;
  ok_ = false;
  mistake_ = {std::move(message), std::move(hint)};
}

bool JsonFields::has(std::string_view key) const {
  simdjson::dom::element value;
  return object_[key].get(value) == simdjson::SUCCESS && !value.is_null();
}

std::optional<simdjson::dom::element> JsonFields::required(std::string_view key) {
  simdjson::dom::element value;
  if (object_[key].get(value) == simdjson::SUCCESS && !value.is_null()) return value;
  mistake(fmt::format("`{}` is missing", key), "every request of this format has it");
  return std::nullopt;
}

std::uint64_t JsonFields::count(std::string_view key, std::uint64_t max) {
  const auto value = required(key);
  if (!value) return 0;
  const auto whole = whole_number(*value);
  if (whole && *whole <= max) return *whole;
  mistake(fmt::format("`{}` is not a whole number from 0 to {}", key, max));
  return 0;
}

double JsonFields::number(std::string_view key, double max) {
  const auto value = required(key);
  double real = 0;
  if (!value) return 0;
  if (value->get(real) == simdjson::SUCCESS && real >= 0 && real <= max) return real;
  mistake(fmt::format("`{}` is not a number from 0 to {}", key, max));
  return 0;
}

std::string_view JsonFields::text(std::string_view key) {
  const auto value = required(key);
  std::string_view text;
  if (value && value->get(text) != simdjson::SUCCESS) {
    mistake(fmt::format("`{}` is not a string", key));
  }
  return text;
}

std::uint32_t JsonFields::tokens(std::string_view key) {
  return static_cast<std::uint32_t>(count(key, kTokensMax));
}

std::int64_t JsonFields::time_ns(std::string_view key, std::int64_t unit_ns) {
  const std::int64_t max = kTimeNsMax / unit_ns;
  // Whole numbers without a double between: beyond 104 days it no longer names each nanosecond.
  std::int64_t whole = 0;
  if (object_[key].get(whole) == simdjson::SUCCESS && whole >= 0 && whole <= max) {
    return whole * unit_ns;
  }
  return std::llround(number(key, static_cast<double>(max)) * static_cast<double>(unit_ns));
}

void JsonFields::ids(std::string_view key, std::vector<std::uint64_t>& ids) {
  const auto value = required(key);
  if (!value) return;
  simdjson::dom::array array;
  if (value->get(array) != simdjson::SUCCESS) {
    return mistake(fmt::format("`{}` is not a list of block ids", key));
  }
  for (const simdjson::dom::element item : array) {
    std::uint64_t id = 0;
    std::int64_t negative = 0;
    if (item.get(id) != simdjson::SUCCESS) {
      if (item.get(negative) != simdjson::SUCCESS) {
        return mistake(fmt::format("`{}` holds something that is not a 64-bit integer", key));
      }
      id = static_cast<std::uint64_t>(negative);
    }
    if (ids.size() == kBlockIdsMax) {
      return mistake(fmt::format("`{}` holds more than {} ids", key, kBlockIdsMax));
    }
    ids.push_back(id);
  }
}

std::optional<simdjson::dom::object> JsonLineParser::parse(std::string_view text,
                                                           Mistake& mistake) {
  simdjson::dom::element document;
  const auto error = parser_.parse(text.data(), text.size(), false).get(document);
  if (error != simdjson::SUCCESS) {
    mistake = {fmt::format("not JSON: {}", simdjson::error_message(error)),
               "one JSON object a line"};
    return std::nullopt;
  }
  simdjson::dom::object object;
  if (document.get(object) != simdjson::SUCCESS) {
    mistake = {"not a JSON object", "one JSON object a line"};
    return std::nullopt;
  }
  return object;
}

}  // namespace forebay::workload
