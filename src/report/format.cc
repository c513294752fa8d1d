#include "report/format.h"

#include <fmt/core.h>

#include <array>
#include <cmath>

namespace forebay::report {
namespace {

// Three significant digits.
std::string digits(double value) {
  const double size = std::abs(value);
  if (size >= 99.95) return fmt::format("{:.0f}", value);
  if (size >= 9.995) return fmt::format("{:.1f}", value);
  return fmt::format("{:.2f}", value);
}

// The ratio turned so that it is at least 1, and which way it was.
struct Factor {
  double times;
  bool higher;
};
Factor factor_of(double ratio) {
  return ratio >= 1 ? Factor{ratio, true} : Factor{1 / ratio, false};
}

}  // namespace

std::string format_ns(double ns) {
  if (ns < 1e3) return fmt::format("{:.0f} ns", ns);
  if (ns < 999.5e3) return digits(ns / 1e3) + " us";
  if (ns < 999.5e6) return digits(ns / 1e6) + " ms";
  return digits(ns / 1e9) + " s";
}

std::string format_ns(const std::optional<double>& ns) {
  return ns ? format_ns(*ns) : kNotAvailable;
}

std::string format_tick_ns(double ns) {
  if (ns < 999.5) return fmt::format("{:g} ns", ns);
  if (ns < 999.5e3) return fmt::format("{:g} us", ns / 1e3);
  if (ns < 999.5e6) return fmt::format("{:g} ms", ns / 1e6);
  return fmt::format("{:g} s", ns / 1e9);
}

std::string format_rate(const std::optional<double>& bytes_per_second) {
  if (!bytes_per_second) return kNotAvailable;
  const double rate = *bytes_per_second;
  if (rate == 0) return "0";
  if (rate >= 999.5e6) return digits(rate / 1e9) + " GB/s";
  if (rate >= 999.5e3) return digits(rate / 1e6) + " MB/s";
  return digits(rate / 1e3) + " kB/s";
}

std::string format_count(double value) {
  if (value < 99.95) return digits(value);
  std::string text = fmt::format("{:.0f}", value);
  for (std::size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, ",");
  return text;
}

std::string format_share(double part, double whole) {
  return whole > 0 ? fmt::format("{:.1f} %", 100 * part / whole) : kNotAvailable;
}

std::string format_ratio(double ratio) {
  const Factor factor = factor_of(ratio);
  if (factor.times < 1.005) return "equal";
  return fmt::format("{}x {}", digits(factor.times), factor.higher ? "higher" : "lower");
}

std::string metric_title(std::string_view metric) {
  if (metric == "output_tokens_per_second") return "output tokens/s";
  constexpr std::string_view kTtft = "ttft_ns.";
  if (metric.starts_with(kTtft)) return fmt::format("TTFT {}", metric.substr(kTtft.size()));
  return std::string(metric);
}

std::string comparison_text(const Comparison& comparison) {
  const auto& [pair_count, ratio, interval] = comparison.ratio;
  const char* rounds = pair_count == 1 ? "round" : "rounds";
  if (!interval) {
    return fmt::format("{} ({} {}: no interval below {})", format_ratio(ratio), pair_count, rounds,
                       gate::kPairsForInterval);
  }
  // Turned the way of the estimate, so that both read alike; an end on the other side of 1 stays
  // below 1.
  const bool higher = ratio >= 1;
  const double low = higher ? interval->low : 1 / interval->high;
  const double high = higher ? interval->high : 1 / interval->low;
  return fmt::format("{} ({:.1f} % CI {} to {}, {} {})", format_ratio(ratio),
                     100 * interval->confidence, digits(low), digits(high), pair_count, rounds);
}

bool is_better(const Comparison& comparison) {
  return comparison.better == gate::Direction::kLowerIsBetter ? comparison.ratio.ratio < 1
                                                              : comparison.ratio.ratio > 1;
}

bool is_clear(const Comparison& comparison) {
  const auto& interval = comparison.ratio.interval;
  return interval && (interval->high < 1 || interval->low > 1);
}

std::optional<double> case_rate(const std::optional<double>& bytes_per_second, double scale) {
  return bytes_per_second ? std::optional(*bytes_per_second * scale) : std::nullopt;
}

std::string scale_note(double scale) {
  if (scale == 1) return "";
  return fmt::format(
      "scale 1:{0:g}: KV bytes, capacities and byte rates ran divided by {0:g}; times and tokens "
      "are "
      "the case's own; load rates are shown as the case's, {0:g} times what moved",
      scale);
}

}  // namespace forebay::report
