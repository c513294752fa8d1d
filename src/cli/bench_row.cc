#include "cli/bench_row.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <utility>

#include "cli/command.h"

namespace forebay::cli {
namespace {

std::string bar_text(const BenchRow& row) {
  if (row.bar == Bar::kNone) return "";
  return fmt::format("{} {:g}", row.bar == Bar::kAtLeast ? ">=" : "<=", row.bar_value);
}

}  // namespace

bool BenchRow::ok() const {
  switch (bar) {
    case Bar::kNone:
      return true;
    case Bar::kAtLeast:
      return value >= bar_value;
    case Bar::kAtMost:
      return value <= bar_value;
  }
  return false;
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

BenchRow row_of(std::string name, std::string unit, std::span<const double> rounds) {
  BenchRow row;
  row.name = std::move(name);
  row.unit = std::move(unit);
  if (rounds.empty()) return row;
  row.value = median({rounds.begin(), rounds.end()});
  const auto [low, high] = std::ranges::minmax(rounds);
  row.low = low;
  row.high = high;
  return row;
}

std::string to_json(const BenchRow& row) {
  return nlohmann::ordered_json{
      {"name", row.name}, {"value", row.value},         {"spread", {row.low, row.high}},
      {"unit", row.unit}, {"reference", row.reference}, {"bar", bar_text(row)},
      {"ok", row.ok()}}
      .dump();
}

std::string to_text(const BenchRow& row) {
  const std::string verdict = row.bar == Bar::kNone ? "" : row.ok() ? " ok" : " SHORT";
  return fmt::format("{:<24} {:>9.4g} {:<13} ({:.4g} - {:.4g})  {}{}  {}", row.name, row.value,
                     row.unit, row.low, row.high, bar_text(row), verdict, row.reference);
}

int print_rows(std::span<const BenchRow> rows, bool json) {
  bool ok = true;
  for (const BenchRow& row : rows) {
    fmt::print("{}\n", json ? to_json(row) : to_text(row));
    std::fflush(stdout);
    ok = ok && row.ok();
  }
  return ok ? kExitOk : kExitFailed;
}

}  // namespace forebay::cli
