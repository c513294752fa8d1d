// Any bytes as the files of a result folder: a log that can be summarised, or mistakes.
//
// The parts, in the order run.json, requests, cells, ops, traffic, summary.json, checks.json, late
// requests, late cells, SHA256SUMS, stand between lines of "%%". A table's header is put in front
// of it, so that rows are reached.
#include <array>
#include <cstdint>
#include <string_view>

#include "core/check.h"
#include "report/checks.h"
#include "report/cross_check.h"
#include "report/folder.h"
#include "report/summary.h"

namespace forebay::report {
namespace {

constexpr std::string_view kBetween = "\n%%\n";

std::array<std::string_view, 10> parts_of(std::string_view text) {
  std::array<std::string_view, 10> parts;
  for (std::string_view& part : parts) {
    const std::size_t end = text.find(kBetween);
    part = text.substr(0, end);
    text = end == std::string_view::npos ? "" : text.substr(end + kBetween.size());
  }
  return parts;
}

template <class Row>
std::vector<Row> rows_of(std::string_view text, std::span<const Column<Row>> columns,
                         const RunFacts& facts, Diagnostics& mistakes) {
  const auto arms = facts.arm_names();
  const std::string file = csv_header(columns) + std::string(text) + "\n";
  auto rows = parse_csv<Row>("rows.csv", file, columns, arms, mistakes);
  // What was read is written as it stood, up to how a number may be spelt.
  const std::string written = csv_header(columns) + csv_rows<Row>(columns, rows, arms);
  Diagnostics none;
  const auto again = parse_csv<Row>("rows.csv", written, columns, arms, none);
  FOREBAY_CHECK(none.empty() && again.size() == rows.size());
  return rows;
}

void read_checks(std::string_view checks_json, std::string_view table) {
  const FileChecks now = checks_of(kCellsFile, table);
  FOREBAY_CHECK(changes_of(now, table).empty());
  const auto written = checks_from_json(checks_json);
  if (!written) return;
  for (const FileChecks& checks : *written) (void)changes_of(checks, table);
  FOREBAY_CHECK(checks_from_json(checks_to_json(*written)).has_value());
}

void read_sums(std::string_view text, std::string_view table) {
  const Sums sums(text, run_files());
  for (const std::string_view file : run_files()) {
    FOREBAY_CHECK(!sums.hold(file, table) || sums.name(file));
    (void)sums.line_ends(file, table);
  }
}

void read(std::string_view text) {
  const auto parts = parts_of(text);
  read_sums(parts[9], parts[2]);
  read_checks(parts[6], parts[2]);
  Diagnostics mistakes;
  auto facts = facts_from_json("run.json", parts[0], mistakes);
  FOREBAY_CHECK_EQ(facts.has_value(), mistakes.empty());
  if (!facts) return;
  RunLog log;
  log.facts = std::move(*facts);
  log.requests = rows_of(parts[1], request_columns(), log.facts, mistakes);
  log.cells = rows_of(parts[2], cell_columns(), log.facts, mistakes);
  log.ops = rows_of(parts[3], op_columns(), log.facts, mistakes);
  log.traffic = rows_of(parts[4], traffic_columns(), log.facts, mistakes);
  log.late_requests = rows_of(parts[7], late_request_columns(), log.facts, mistakes);
  log.late_cells = rows_of(parts[8], late_cell_columns(), log.facts, mistakes);
  const std::string json = summary_to_json(summarise(log), log.facts);
  FOREBAY_CHECK(compare_summaries(json, json).empty());
  (void)compare_summaries(parts[5], json);
  (void)cross_check(log);
}

}  // namespace
}  // namespace forebay::report

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  forebay::report::read({reinterpret_cast<const char*>(data), size});
  return 0;
}
