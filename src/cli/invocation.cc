#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <utility>

#include "cli/command.h"
#include "cli/standard_error.h"
#include "core/bytes.h"
#include "core/check.h"

namespace forebay::cli {

Invocation::Invocation(const Command& command, std::vector<std::string> arguments,
                       std::map<std::string, std::string, std::less<>> values)
    : command_(command), arguments_(std::move(arguments)), values_(std::move(values)) {}

bool Invocation::has(std::string_view flag) const { return values_.contains(flag); }

std::string Invocation::text(std::string_view flag) const {
  if (const auto found = values_.find(flag); found != values_.end()) return found->second;
  const auto known = std::ranges::find(command_.flags, flag, &Flag::name);
  FOREBAY_CHECK(known != command_.flags.end());  // a command reads only flags of its own table
  return std::string(known->default_text);
}

std::uint64_t Invocation::bytes(std::string_view flag) const {
  const std::string value = text(flag);
  if (value.empty()) return 0;
  if (const auto parsed = parse_bytes(value)) return *parsed;
  mistakes_.add(std::string(flag), fmt::format("`{}` is not a size", value),
                "write a number with K, M, G, T or P, such as 200G or 256K");
  return 0;
}

std::uint64_t Invocation::count(std::string_view flag) const {
  const std::string value = text(flag);
  if (value.empty()) return 0;
  std::uint64_t number = 0;
  const char* end = value.data() + value.size();
  if (const auto [at, error] = std::from_chars(value.data(), end, number);
      error == std::errc{} && at == end) {
    return number;
  }
  mistakes_.add(std::string(flag), fmt::format("`{}` is not a whole number", value));
  return 0;
}

double Invocation::number(std::string_view flag) const {
  const std::string value = text(flag);
  if (value.empty()) return 0;
  double number = 0;
  const char* end = value.data() + value.size();
  if (const auto [at, error] = std::from_chars(value.data(), end, number);
      error == std::errc{} && at == end && std::isfinite(number)) {
    return number;
  }
  mistakes_.add(std::string(flag), fmt::format("`{}` is not a number", value));
  return 0;
}

std::vector<std::string> Invocation::list(std::string_view flag) const {
  std::vector<std::string> items;
  const std::string value = text(flag);
  for (std::size_t at = 0; at < value.size();) {
    const std::size_t comma = std::min(value.find(',', at), value.size());
    if (comma > at) items.push_back(value.substr(at, comma - at));
    at = comma + 1;
  }
  return items;
}

std::optional<int> Invocation::refuse() const {
  if (mistakes_.empty()) return std::nullopt;
  tell_lines(mistakes_.text());
  return kExitUsage;
}

}  // namespace forebay::cli
