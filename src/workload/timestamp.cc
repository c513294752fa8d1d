#include "workload/timestamp.h"

#include <chrono>

namespace forebay::workload {
namespace {

constexpr std::int64_t kSecondNs = 1'000'000'000;

// Takes exactly `digits` digits off the front of `text`.
std::optional<int> take_number(std::string_view& text, std::size_t digits) {
  if (text.size() < digits) return std::nullopt;
  int value = 0;
  for (const char c : text.substr(0, digits)) {
    if (c < '0' || c > '9') return std::nullopt;
    value = value * 10 + (c - '0');
  }
  text.remove_prefix(digits);
  return value;
}

bool take(std::string_view& text, std::string_view any_of) {
  if (text.empty() || any_of.find(text.front()) == std::string_view::npos) return false;
  text.remove_prefix(1);
  return true;
}

// "dd-dd-..." : each number after its separator; nullopt when any is missing.
std::optional<int> take_after(std::string_view& text, std::string_view separator) {
  return take(text, separator) ? take_number(text, 2) : std::nullopt;
}

// Digits beyond the ninth are below a nanosecond.
std::int64_t take_fraction_ns(std::string_view& text) {
  std::int64_t value = 0;
  std::int64_t unit = kSecondNs / 10;
  while (!text.empty() && text.front() >= '0' && text.front() <= '9') {
    value += (text.front() - '0') * unit;
    unit /= 10;
    text.remove_prefix(1);
  }
  return value;
}

// "", "Z", "+02:00", "-0530": minutes east of UTC.
std::optional<int> take_zone_minutes(std::string_view& text) {
  if (text.empty() || take(text, "Z")) return 0;
  const int sign = text.front() == '-' ? -1 : 1;
  if (!take(text, "+-")) return std::nullopt;
  const auto hours = take_number(text, 2);
  take(text, ":");
  const auto minutes = take_number(text, 2);
  if (!hours || !minutes || *hours > 23 || *minutes > 59) return std::nullopt;
  return sign * (*hours * 60 + *minutes);
}

}  // namespace

std::optional<std::int64_t> parse_timestamp_ns(std::string_view text) {
  const auto year = take_number(text, 4);
  const auto month = take_after(text, "-");
  const auto day = take_after(text, "-");
  const auto hour = take_after(text, "T ");
  const auto minute = take_after(text, ":");
  const auto second = take_after(text, ":");
  if (!year || !month || !day || !hour || !minute || !second) return std::nullopt;
  const std::int64_t fraction_ns = take(text, ".") ? take_fraction_ns(text) : 0;
  const auto zone_minutes = take_zone_minutes(text);
  if (!zone_minutes || !text.empty()) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(*year),
                                         std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day))};
  if (!date.ok() || *year < 1970 || *year > 2200) return std::nullopt;
  if (*hour > 23 || *minute > 59 || *second > 60) return std::nullopt;
  const std::int64_t days = std::chrono::sys_days(date).time_since_epoch().count();
  const std::int64_t minutes = (days * 24 + *hour) * 60 + *minute - *zone_minutes;
  return (minutes * 60 + *second) * kSecondNs + fraction_ns;
}

}  // namespace forebay::workload
