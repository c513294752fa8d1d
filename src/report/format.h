// Figures as people read them, the same in the terminal and in the HTML report. Pure.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "report/summary.h"

namespace forebay::report {

inline constexpr const char* kNotAvailable = "n/a";
// A figure that the arm cannot have, or that nobody published.
inline constexpr const char* kNone = "-";
inline constexpr const char* kNotRun = "not run";

// "830 us", "12.4 ms", "1.42 s", "149 s": three digits.
[[nodiscard]] std::string format_ns(double ns);
[[nodiscard]] std::string format_ns(const std::optional<double>& ns);
// For an axis, whose values are round: "20 ms".
[[nodiscard]] std::string format_tick_ns(double ns);
// Decimal units, as rates of devices are given: "2.31 GB/s".
[[nodiscard]] std::string format_rate(const std::optional<double>& bytes_per_second);
[[nodiscard]] std::string format_count(double value);               // "12,031", "4.1"
[[nodiscard]] std::string format_whole(std::uint64_t value);        // "128"
[[nodiscard]] std::string format_share(double part, double whole);  // "36.6 %"; n/a of nothing

// What a column of figures is written in: the largest unit of which its smallest value is 1 (of
// rates: a tenth). Headers carry the name, cells the number.
struct Unit {
  double size = 1;
  const char* name = "";
};
[[nodiscard]] Unit time_unit(std::span<const double> values_ns);
[[nodiscard]] Unit rate_unit(std::span<const double> bytes_per_second);
// "1,620" of 1.62e9 in ms; `absent` where there is none.
[[nodiscard]] std::string format_in(const std::optional<double>& value, const Unit& unit,
                                    const char* absent = kNotAvailable);
// A published figure with every digit that was published: "37.97".
[[nodiscard]] std::string format_published(const std::optional<double>& value, const Unit& unit);
// Those of the tables of a result: TTFT, time per output token, load rates as the case's.
struct TableUnits {
  Unit time;
  Unit token_time;
  Unit rate;
};
[[nodiscard]] TableUnits units_of(const RunFacts& facts, const Summary& summary);

// "8.3x lower", "1.2x higher", "equal": the candidate over the baseline.
[[nodiscard]] std::string format_ratio(double ratio);
// "TTFT p50", "output tokens/s"
[[nodiscard]] std::string metric_title(std::string_view metric);
// Why the ratio is believed, or why there is no interval: "96.9 % CI 6.9 to 9.8, 6 rounds". Where
// the interval contains 1, with the ratio before it.
[[nodiscard]] std::string certainty_text(const Comparison& comparison);
// "8.3x lower (96.9 % CI 6.9 to 9.8, 6 rounds)", or "no difference shown (1.1x lower, ...)" where
// the interval contains 1.
[[nodiscard]] std::string comparison_text(const Comparison& comparison);
[[nodiscard]] bool is_better(const Comparison& comparison);
// Does the interval leave no doubt about which way it goes?
[[nodiscard]] bool is_clear(const Comparison& comparison);
// Does the interval contain 1?
[[nodiscard]] bool shows_no_difference(const Comparison& comparison);
// What the ratios of comparisons are made of, in one sentence; "" where each is of one round.
[[nodiscard]] std::string pairing_note(const Summary& summary);
// Sentences below a table, without a full stop: why a percentile is n/a, what was not saved, which
// operations are not in the log.
[[nodiscard]] std::vector<std::string> footnotes(const RunFacts& facts, const Summary& summary);

// A rate of the scaled run as the case's own, which published figures can stand beside.
[[nodiscard]] std::optional<double> case_rate(const std::optional<double>& bytes_per_second,
                                              double scale);
// What `scale` did to the figures, in one sentence; "" at 1.
[[nodiscard]] std::string scale_note(double scale);

}  // namespace forebay::report
