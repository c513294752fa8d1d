// One measured figure beside its reference: what `forebay bench` prints and `make bench` gathers.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace forebay::cli {

enum class Bar : std::uint8_t { kNone, kAtLeast, kAtMost };

struct BenchRow {
  std::string name;  // "flash-read-1m-16"
  std::string unit;  // "ratio", "us", "cpu_s_per_gib"
  double value = 0;  // the median over rounds
  double low = 0;    // the spread: smallest and largest round
  double high = 0;
  std::string reference;  // what it was held against, with its own figure
  Bar bar = Bar::kNone;
  double bar_value = 0;
  [[nodiscard]] bool ok() const;
};

[[nodiscard]] double median(std::vector<double> values);  // 0 when empty
// Fills value, low and high from one figure a round.
[[nodiscard]] BenchRow row_of(std::string name, std::string unit, std::span<const double> rounds);
// {"name":..,"value":..,"spread":[low,high],"unit":..,"reference":..,"bar":">= 0.95","ok":true}
[[nodiscard]] std::string to_json(const BenchRow& row);
// "flash-read-1m-16   0.98 ratio (0.95-1.01)  >= 0.95 ok   fio 1.84 GB/s"
[[nodiscard]] std::string to_text(const BenchRow& row);
// Prints all, as JSON lines or text; kExitFailed when a bar is missed.
[[nodiscard]] int print_rows(std::span<const BenchRow> rows, bool json);

}  // namespace forebay::cli
