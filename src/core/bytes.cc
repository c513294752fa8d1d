#include "core/bytes.h"

#include <fmt/core.h>

#include <array>
#include <charconv>
#include <cmath>

namespace forebay {
namespace {

struct Suffix {
  std::string_view text;
  std::uint64_t unit;
};

constexpr std::array<Suffix, 17> kSuffixes{{{"", 1},
                                            {"B", 1},
                                            {"K", kKiB},
                                            {"KiB", kKiB},
                                            {"KB", 1000},
                                            {"M", kMiB},
                                            {"MiB", kMiB},
                                            {"MB", 1000 * 1000},
                                            {"G", kGiB},
                                            {"GiB", kGiB},
                                            {"GB", 1000ULL * 1000 * 1000},
                                            {"T", kTiB},
                                            {"TiB", kTiB},
                                            {"TB", 1000ULL * 1000 * 1000 * 1000},
                                            {"P", 1024 * kTiB},
                                            {"PiB", 1024 * kTiB},
                                            {"PB", 1000ULL * 1000 * 1000 * 1000 * 1000}}};

}  // namespace

std::optional<std::uint64_t> parse_bytes(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || !std::isfinite(number) || number < 0) return std::nullopt;
  std::string_view rest(end, static_cast<std::size_t>(text.data() + text.size() - end));
  while (rest.starts_with(' ')) rest.remove_prefix(1);
  for (const Suffix& suffix : kSuffixes) {
    if (rest != suffix.text) continue;
    const double bytes = number * static_cast<double>(suffix.unit);
    if (bytes >= 0x1p63) return std::nullopt;
    return static_cast<std::uint64_t>(std::llround(bytes));
  }
  return std::nullopt;
}

std::string format_bytes(std::uint64_t bytes) {
  constexpr std::array<const char*, 5> kUnits{"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  double value = static_cast<double>(bytes);
  while (value >= 1024 && unit + 1 < kUnits.size()) {
    value /= 1024;
    ++unit;
  }
  if (unit == 0 || value == std::floor(value)) return fmt::format("{:.0f} {}", value, kUnits[unit]);
  return fmt::format("{:.2f} {}", value, kUnits[unit]);
}

}  // namespace forebay
