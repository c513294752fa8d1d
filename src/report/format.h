// Figures as people read them, the same in the terminal and in the HTML report. Pure.
#pragma once

#include <optional>
#include <string>

#include "report/summary.h"

namespace forebay::report {

inline constexpr const char* kNotAvailable = "n/a";

// "830 us", "12.4 ms", "1.42 s", "149 s": three digits.
[[nodiscard]] std::string format_ns(double ns);
[[nodiscard]] std::string format_ns(const std::optional<double>& ns);
// For an axis, whose values are round: "20 ms".
[[nodiscard]] std::string format_tick_ns(double ns);
// Decimal units, as rates of devices are given: "2.31 GB/s".
[[nodiscard]] std::string format_rate(const std::optional<double>& bytes_per_second);
[[nodiscard]] std::string format_count(double value);               // "12,031", "4.1"
[[nodiscard]] std::string format_share(double part, double whole);  // "36.6 %"; n/a of nothing

// "8.3x lower", "1.2x higher", "equal": the candidate over the baseline.
[[nodiscard]] std::string format_ratio(double ratio);
// "TTFT p50", "output tokens/s"
[[nodiscard]] std::string metric_title(std::string_view metric);
// "8.3x lower (96.9 % CI 6.9 to 9.8, 6 rounds)"; says why where there is no interval.
[[nodiscard]] std::string comparison_text(const Comparison& comparison);
[[nodiscard]] bool is_better(const Comparison& comparison);
// Does the interval leave no doubt about which way it goes?
[[nodiscard]] bool is_clear(const Comparison& comparison);

// A rate of the scaled run as the case's own, which published figures can stand beside.
[[nodiscard]] std::optional<double> case_rate(const std::optional<double>& bytes_per_second,
                                              double scale);
// What `scale` did to the figures, in one sentence; "" at 1.
[[nodiscard]] std::string scale_note(double scale);

}  // namespace forebay::report
