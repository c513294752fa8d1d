#include "report/text.h"

#include <fmt/core.h>

#include <algorithm>

#include "report/format.h"

namespace forebay::report {
namespace {

// Columns as wide as their widest cell; the first to the left, the others to the right.
class TextTable {
 public:
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
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

std::string head_text(const RunFacts& facts, const Summary& summary) {
  std::string out = fmt::format("{}: {} of {} rounds, {}, seed {}\n", facts.name,
                                summary.rounds_complete, facts.rounds_wanted,
                                facts.virtual_time ? "virtual time" : "true time", facts.seed);
  if (!facts.workload.empty()) out += fmt::format("  {}\n", facts.workload);
  if (const std::string note = scale_note(facts.scale); !note.empty()) out += "  " + note + "\n";
  if (!summary.partial.empty()) {
    out += fmt::format("PARTIAL: {}; unfinished rounds are not compared\n", summary.partial);
  }
  if (!summary.valid) out += "INVALID: do not use these figures\n";
  for (const std::string& reason : summary.invalid_reasons) out += fmt::format("  {}\n", reason);
  return out;
}

void add_arm(const ArmSummary& arm, double scale, TextTable& table) {
  if (!arm.skipped.empty()) return;
  const double total = static_cast<double>(arm.blocks.total());
  const auto share = [&](std::uint64_t blocks) {
    return format_share(static_cast<double>(blocks), total);
  };
  table.add({arm.name, format_ns(arm.ttft_ns.mean), format_ns(arm.ttft_ns.p50),
             format_ns(arm.ttft_ns.p90), format_ns(arm.ttft_ns.p99),
             format_count(arm.output_tokens_per_second), share(arm.blocks.hbm),
             share(arm.blocks.dram), share(arm.blocks.flash), share(arm.blocks.recomputed),
             format_rate(case_rate(arm.load_bytes_per_second, scale))});
}

std::string arms_text(const RunFacts& facts, const Summary& summary) {
  TextTable table;
  table.add({"arm", "TTFT mean", "p50", "p90", "p99", "out tok/s", "HBM hit", "DRAM hit",
             "flash hit", "computed", "load rate"});
  for (const ArmSummary& arm : summary.arms) add_arm(arm, facts.scale, table);
  for (const PublishedRow& row : facts.published) {
    table.add({row.name, row.ttft_s ? format_ns(*row.ttft_s * 1e9) : kNotAvailable, "", "", "",
               row.output_tokens_per_second ? format_count(*row.output_tokens_per_second)
                                            : std::string(kNotAvailable),
               "", "", "", "", format_rate(row.load_bytes_per_second)});
  }
  std::string out = table.text();
  for (const ArmSummary& arm : summary.arms) {
    if (!arm.skipped.empty()) out += fmt::format("  {}: skipped: {}\n", arm.name, arm.skipped);
  }
  for (const PublishedRow& row : facts.published) {
    out += fmt::format("  {}: published, not measured here: {}\n", row.name, row.source);
  }
  return out;
}

std::string comparisons_text(const RunFacts& facts, const Summary& summary) {
  std::string out;
  std::string baseline;
  for (const Comparison& comparison : summary.comparisons) {
    if (comparison.baseline != baseline) {
      baseline = comparison.baseline;
      out += fmt::format("{} against {}\n", facts.candidate, baseline);
    }
    out +=
        fmt::format("  {:<16} {}\n", metric_title(comparison.metric), comparison_text(comparison));
  }
  return out;
}

std::string variants_text(const Summary& summary) {
  if (summary.variants.empty()) return "";
  std::string out = "how the outcome moves (virtual time, one round each)\n";
  TextTable table;
  std::vector<std::string> head{"input"};
  for (const auto& arm : summary.variants.front().arms) {
    head.push_back(arm.name + " TTFT mean");
    head.push_back("out tok/s");
  }
  table.add(std::move(head));
  for (const VariantSummary& variant : summary.variants) {
    std::vector<std::string> row{fmt::format("{} = {}", variant.key, variant.value)};
    for (const auto& arm : variant.arms) {
      row.push_back(format_ns(arm.ttft_ns_mean));
      row.push_back(format_count(arm.output_tokens_per_second));
    }
    table.add(std::move(row));
  }
  return out + table.text();
}

}  // namespace

std::string text_report(const RunFacts& facts, const Summary& summary) {
  return head_text(facts, summary) + arms_text(facts, summary) + comparisons_text(facts, summary) +
         variants_text(summary);
}

}  // namespace forebay::report
