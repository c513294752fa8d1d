#include "report/format.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "gate/trend.h"
#include "telemetry/histogram.h"

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

// The largest of `units` (ascending) of which the smallest positive value is at least `part`; all
// below: the first; no such value: the last.
Unit unit_of(std::span<const double> values, std::span<const Unit> units, double part) {
  double smallest = 0;
  for (const double value : values) {
    if (value > 0 && (smallest == 0 || value < smallest)) smallest = value;
  }
  if (smallest == 0) return units.back();
  Unit chosen = units.front();
  for (const Unit& unit : units) {
    if (smallest >= part * unit.size) chosen = unit;
  }
  return chosen;
}

constexpr std::array<Unit, 4> kTimeUnits{{{1, "ns"}, {1e3, "us"}, {1e6, "ms"}, {1e9, "s"}}};
constexpr std::array<Unit, 3> kRateUnits{{{1e3, "kB/s"}, {1e6, "MB/s"}, {1e9, "GB/s"}}};

void add(std::vector<double>& values, const std::optional<double>& value) {
  if (value) values.push_back(*value);
}

}  // namespace

Unit time_unit(std::span<const double> values_ns) { return unit_of(values_ns, kTimeUnits, 1); }
Unit rate_unit(std::span<const double> bytes_per_second) {
  return unit_of(bytes_per_second, kRateUnits, 0.1);
}

std::string format_in(const std::optional<double>& value, const Unit& unit, const char* absent) {
  if (!value) return absent;
  const double shown = *value / unit.size;
  if (shown == 0) return "0";
  return shown > 0 && shown < 0.9995 ? fmt::format("{:.3f}", shown) : format_count(shown);
}

std::string format_published(const std::optional<double>& value, const Unit& unit) {
  return value ? fmt::format("{:.6g}", *value / unit.size) : kNone;
}

TableUnits units_of(const RunFacts& facts, const Summary& summary) {
  std::vector<double> times;
  std::vector<double> token_times;
  std::vector<double> rates;
  for (const ArmSummary& arm : summary.arms) {
    for (const auto& time : {arm.ttft_ns.mean, arm.ttft_ns.p50, arm.ttft_ns.p90, arm.ttft_ns.p99}) {
      add(times, time);
    }
    add(token_times, arm.ns_per_output_token.p50);
    add(rates, case_rate(arm.load_bytes_per_second, facts.scale));
  }
  for (const PublishedRow& row : facts.published) {
    if (row.ttft_s) times.push_back(*row.ttft_s * 1e9);
    add(rates, row.load_bytes_per_second);
  }
  for (const VariantSummary& variant : summary.variants) {
    for (const auto& arm : variant.arms) add(times, arm.ttft_ns_mean);
  }
  return {time_unit(times), time_unit(token_times), rate_unit(rates)};
}

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
  return format_whole(static_cast<std::uint64_t>(std::llround(value)));
}

std::string format_whole(std::uint64_t value) {
  std::string text = fmt::format("{}", value);
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
  if (metric == "output_tokens_per_second") return "output tok/s";
  constexpr std::string_view kTtft = "ttft_ns.";
  if (metric.starts_with(kTtft)) return fmt::format("TTFT {}", metric.substr(kTtft.size()));
  return std::string(metric);
}

std::string certainty_text(const Comparison& comparison) {
  const auto& [pair_count, ratio, interval] = comparison.ratio;
  const char* rounds = pair_count == 1 ? "round" : "rounds";
  if (comparison.identical) {
    return fmt::format("{} identical rounds of a deterministic simulation: one sample, no interval",
                       pair_count);
  }
  if (!interval) {
    return fmt::format("{} {}: no interval below {}", pair_count, rounds, gate::kPairsForInterval);
  }
  // Turned the way of the estimate, so that both read alike; an end on the other side of 1 stays
  // below 1.
  const bool higher = ratio >= 1;
  const double low = higher ? interval->low : 1 / interval->high;
  const double high = higher ? interval->high : 1 / interval->low;
  const std::string sure = fmt::format("{:.1f} % CI {} to {}, {} {}", 100 * interval->confidence,
                                       digits(low), digits(high), pair_count, rounds);
  return shows_no_difference(comparison) ? fmt::format("{}, {}", format_ratio(ratio), sure) : sure;
}

std::string comparison_text(const Comparison& comparison) {
  return fmt::format("{} ({})",
                     shows_no_difference(comparison) ? "no difference shown"
                                                     : format_ratio(comparison.ratio.ratio),
                     certainty_text(comparison));
}

bool is_better(const Comparison& comparison) {
  return comparison.better == gate::Direction::kLowerIsBetter ? comparison.ratio.ratio < 1
                                                              : comparison.ratio.ratio > 1;
}

bool is_clear(const Comparison& comparison) {
  const auto& interval = comparison.ratio.interval;
  return interval && (interval->high < 1 || interval->low > 1);
}

bool shows_no_difference(const Comparison& comparison) {
  return comparison.ratio.interval && !is_clear(comparison);
}

namespace {

// "" where nothing was done again.
std::string late_note(const Summary& summary) {
  if (summary.late.empty()) return "";
  std::string cells;
  for (const LateAttempt& late : summary.late) {
    cells += fmt::format("{}{} round {}", cells.empty() ? "" : ", ", late.arm, late.round + 1);
  }
  return fmt::format(
      "done again, since this machine was late and for no other reason: {} ({}, kept in {} and {}, "
      "in no figure)",
      cells,
      summary.late.size() == 1 ? "1 attempt" : fmt::format("{} attempts", summary.late.size()),
      kLateCellsFile, kLateRequestsFile);
}

std::string backlog_note(const ArmSummary& arm) {
  const Backlog& backlog = arm.backlog;
  return fmt::format(
      "{}: more arrives than it serves: the first third of a round's {} queued {}, the last {} "
      "(mean of {} round{}; trend test, at most {:g} false alarm in 100), so its TTFT grows with "
      "the length of the run{}",
      arm.name, backlog.sessions ? "new sessions" : "requests", format_ns(backlog.first_ns),
      format_ns(backlog.last_ns), backlog.taus.size(), backlog.taus.size() == 1 ? "" : "s",
      100 * gate::kRiseFalseAlarms,
      backlog.sessions ? "; a session's next turn waits for the answer before" : "");
}

}  // namespace

std::vector<std::string> footnotes(const RunFacts& facts, const Summary& summary) {
  std::vector<std::string> notes;
  const bool too_few = std::ranges::any_of(summary.arms, [](const ArmSummary& arm) {
    return arm.ran() && (!arm.ttft_ns.p50 || !arm.ttft_ns.p90 || !arm.ttft_ns.p99);
  });
  if (too_few) {
    notes.push_back(fmt::format(
        "n/a: too few requests for that percentile: p50 needs {}, p90 {}, p99 {}{}; or requests "
        "that never had a first token",
        telemetry::floor_of(0.5), telemetry::floor_of(0.9), telemetry::floor_of(0.99),
        facts.workload_varies ? "" : " (rounds repeat the same requests, which count once)"));
  }
  if (const std::string late = late_note(summary); !late.empty()) notes.push_back(late);
  for (const ArmSummary& arm : summary.arms) {
    if (arm.ran() && arm.round_count == 0) {
      notes.push_back(
          fmt::format("{}: no round is complete; its figures are of the part that ran", arm.name));
    }
    if (arm.backlog.grew()) notes.push_back(backlog_note(arm));
    const std::uint64_t lost = arm.save_dropped_blocks + arm.save_refused_blocks;
    if (lost > 0) {
      notes.push_back(fmt::format(
          "{}: {} of {} computed blocks were not saved: {} dropped (too many bytes on their way), "
          "{} refused (busy, full, quota)",
          arm.name, format_whole(lost), format_whole(arm.saved_blocks + arm.save_dropped_blocks),
          format_whole(arm.save_dropped_blocks), format_whole(arm.save_refused_blocks)));
    }
    if (arm.ops_dropped > 0) {
      notes.push_back(fmt::format(
          "{}: {} operations, the oldest of their cells, fell out of the bounded log (ops.csv)",
          arm.name, format_whole(arm.ops_dropped)));
    }
  }
  return notes;
}

std::string pairing_note(const Summary& summary) {
  const bool paired = std::ranges::any_of(summary.comparisons, [](const Comparison& comparison) {
    return comparison.ratio.pair_count > 1 && !comparison.identical;
  });
  if (!paired) return "";
  return "factors are paired over the rounds (Hodges-Lehmann estimate of the rounds' ratios), so "
         "they are not the quotients of the table's figures, which are over all rounds together";
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
