#include "report/text.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/printable.h"
#include "report/format.h"

namespace forebay::report {
namespace {

// Columns as wide as their widest cell; the first to the left, the others to the right.
class TextTable {
 public:
  void add(std::vector<std::string> row) {
    for (std::string& cell : row) cell = printable(cell);
    rows_.push_back(std::move(row));
  }
  [[nodiscard]] std::string text() const {
    std::vector<std::size_t> widths;
    for (const auto& row : rows_) {
      widths.resize(std::max(widths.size(), row.size()));
      for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
    }
    std::string out;
    for (const auto& row : rows_) {
      std::string line;
      for (std::size_t i = 0; i < row.size(); ++i) {
        line += i == 0 ? fmt::format("  {:<{}}", row[i], widths[i])
                       : fmt::format("  {:>{}}", row[i], widths[i]);
      }
      line.erase(line.find_last_not_of(' ') + 1);
      out += line + "\n";
    }
    return out;
  }

 private:
  std::vector<std::vector<std::string>> rows_;
};

// A line of its own, whatever text of the run it holds.
std::string note_line(std::string_view text) { return fmt::format("  {}\n", printable(text)); }

std::string head_text(const RunFacts& facts, const Summary& summary) {
  std::string out = fmt::format("{}: {} of {} rounds, {}, seed {}\n", printable(facts.name),
                                summary.rounds_complete, facts.rounds_wanted,
                                facts.virtual_time ? "virtual time" : "true time", facts.seed);
  if (!facts.workload.empty()) out += note_line(facts.workload);
  if (const std::string note = scale_note(facts.scale); !note.empty()) out += note_line(note);
  if (!summary.partial.empty()) {
    out += fmt::format("PARTIAL: {}; unfinished rounds are not compared\n",
                       printable(summary.partial));
  }
  if (!summary.valid) out += "INVALID: do not use these figures\n";
  for (const std::string& reason : summary.invalid_reasons) out += note_line(reason);
  for (const std::string& line : summary.advice) out += note_line(line);
  return out;
}

void add_arm(const ArmSummary& arm, double scale, const TableUnits& units, TextTable& table) {
  if (!arm.skipped.empty()) return;
  if (!arm.ran()) return table.add({arm.name, kNotRun});
  const double total = static_cast<double>(arm.blocks.total());
  const auto share = [&](std::uint64_t blocks) {
    return format_share(static_cast<double>(blocks), total);
  };
  table.add({arm.name, format_in(arm.ttft_ns.mean, units.time),
             format_in(arm.ttft_ns.p50, units.time), format_in(arm.ttft_ns.p90, units.time),
             format_in(arm.ttft_ns.p99, units.time), format_count(arm.output_tokens_per_second),
             share(arm.blocks.hbm), share(arm.blocks.dram), share(arm.blocks.flash),
             share(arm.blocks.recomputed),
             format_in(case_rate(arm.load_bytes_per_second, scale), units.rate, kNone)});
}

void add_published(const PublishedRow& row, const TableUnits& units, TextTable& table) {
  const auto ttft = row.ttft_s ? std::optional(*row.ttft_s * 1e9) : std::nullopt;
  table.add({row.name, format_published(ttft, units.time), "", "", "",
             format_published(row.output_tokens_per_second, {}), "", "", "", "",
             format_published(row.load_bytes_per_second, units.rate)});
}

std::string arms_text(const RunFacts& facts, const Summary& summary) {
  const TableUnits units = units_of(facts, summary);
  TextTable table;
  table.add({"arm", fmt::format("TTFT mean {}", units.time.name), "p50", "p90", "p99",
             "output tok/s", "HBM hit", "DRAM hit", "flash hit", "computed",
             fmt::format("load {}", units.rate.name)});
  for (const ArmSummary& arm : summary.arms) add_arm(arm, facts.scale, units, table);
  for (const PublishedRow& row : facts.published) add_published(row, units, table);
  std::string out = table.text();
  for (const ArmSummary& arm : summary.arms) {
    if (!arm.skipped.empty())
      out += note_line(fmt::format("{}: skipped: {}", arm.name, arm.skipped));
  }
  for (const PublishedRow& row : facts.published) {
    out += note_line(fmt::format("{}: published, not measured here: {}", row.name, row.source));
  }
  for (const std::string& disk : facts.disks) out += note_line(disk);
  for (const std::string& note : footnotes(facts, summary)) out += note_line(note);
  return out;
}

std::string comparisons_text(const RunFacts& facts, const Summary& summary) {
  std::string out;
  std::string baseline;
  for (const Comparison& comparison : summary.comparisons) {
    if (comparison.baseline != baseline) {
      baseline = comparison.baseline;
      out += fmt::format("{} against {}\n", printable(facts.candidate), printable(baseline));
    }
    out +=
        fmt::format("  {:<16} {}\n", metric_title(comparison.metric), comparison_text(comparison));
  }
  const std::string note = pairing_note(summary);
  return note.empty() ? out : out + note_line(note);
}

std::string variants_text(const RunFacts& facts, const Summary& summary) {
  if (summary.variants.empty()) return "";
  const Unit time = units_of(facts, summary).time;
  std::string out = "how the outcome moves (virtual time, one round each)\n";
  TextTable table;
  std::vector<std::string> head{"input"};
  for (const ArmSummary& arm : summary.arms) {
    if (!arm.skipped.empty()) continue;
    head.push_back(fmt::format("{} TTFT mean {}", arm.name, time.name));
    head.push_back("output tok/s");
  }
  table.add(std::move(head));
  for (const VariantSummary& variant : summary.variants) {
    std::vector<std::string> row{fmt::format("{} = {}", variant.key, variant.value)};
    for (const ArmSummary& arm : summary.arms) {
      if (!arm.skipped.empty()) continue;
      const VariantSummary::Arm* found = variant.arm(arm.name);
      row.push_back(found == nullptr ? kNotRun : format_in(found->ttft_ns_mean, time));
      row.push_back(found == nullptr ? kNone : format_count(found->output_tokens_per_second));
    }
    table.add(std::move(row));
  }
  return out + table.text();
}

}  // namespace

std::string text_report(const RunFacts& facts, const Summary& summary) {
  return head_text(facts, summary) + arms_text(facts, summary) + comparisons_text(facts, summary) +
         variants_text(facts, summary);
}

}  // namespace forebay::report
