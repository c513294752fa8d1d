#include "report/summary.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "report/operations.h"
#include "report/pace.h"
#include "telemetry/histogram.h"

namespace forebay::report {
namespace {

constexpr double kNsPerSecond = 1e9;

// One arm in one round of one variant, with its requests.
struct Cell {
  const CellRow* row = nullptr;
  std::vector<const RequestRow*> requests;
};
using CellKey = std::array<std::int64_t, 3>;  // variant, arm, round
using Cells = std::map<CellKey, Cell>;

Cells group(const RunLog& log) {
  Cells cells;
  for (const CellRow& row : log.cells) cells[{row.variant, row.arm, row.round}].row = &row;
  for (const RequestRow& row : log.requests) {
    const auto found = cells.find({row.variant, row.arm, row.round});
    if (found != cells.end()) found->second.requests.push_back(&row);
  }
  return cells;
}

// Values as they come, with the count of those that never came.
struct Sample {
  std::vector<double> values;
  std::uint64_t censored = 0;
  void add(bool known, double value) {
    if (known) {
      values.push_back(value);
    } else {
      ++censored;
    }
  }
  [[nodiscard]] Distribution distribution(std::uint64_t repetitions) const {
    return distribution_of(values, censored, (values.size() + censored) / repetitions);
  }
};

// What the figures of one cell, or of several together, are made of.
struct Tally {
  Sample ttft;
  Sample per_token;
  Sample latency;
  double span_s = 0;
  double loading_s = 0;
  double loaded_bytes = 0;
  std::uint64_t done = 0;
  std::uint64_t failed = 0;
  double input_tokens = 0;
  double output_tokens = 0;
  BlockSources blocks;
  std::uint64_t where_count = 0;
  WhereNs where_sum;

  [[nodiscard]] double per_second(double amount) const { return span_s > 0 ? amount / span_s : 0; }
};

void add_where(const RequestRow& row, Tally& tally) {
  ++tally.where_count;
  tally.where_sum.queue += static_cast<double>(row.queue_ns);
  tally.where_sum.lookup += static_cast<double>(row.lookup_ns);
  tally.where_sum.read += static_cast<double>(row.read_ns);
  tally.where_sum.recompute += static_cast<double>(row.recompute_ns);
  tally.where_sum.other += static_cast<double>(row.other_ns);
}

void add_request(const RequestRow& row, Tally& tally) {
  const bool first = row.has_first_token();
  tally.ttft.add(first, static_cast<double>(row.ttft_ns()));
  tally.latency.add(row.done(), static_cast<double>(row.end_ns - row.intended_ns));
  tally.failed += row.state == static_cast<int>(RequestState::kFailed);
  if (first) add_where(row, tally);
  if (!row.done()) return;
  ++tally.done;
  tally.input_tokens += static_cast<double>(row.input_tokens);
  tally.output_tokens += static_cast<double>(row.output_tokens);
  if (row.output_tokens > 1) {
    tally.per_token.add(true, static_cast<double>(row.end_ns - row.first_token_ns) /
                                  static_cast<double>(row.output_tokens - 1));
  }
  tally.blocks.hbm += static_cast<std::uint64_t>(row.hbm_blocks);
  tally.blocks.dram += static_cast<std::uint64_t>(row.dram_blocks);
  tally.blocks.flash += static_cast<std::uint64_t>(row.flash_blocks);
  tally.blocks.recomputed += static_cast<std::uint64_t>(row.recomputed_blocks);
}

// The time in which at least one request waited for bytes from outside HBM, and those bytes.
void add_loading(std::span<const RequestRow* const> requests, Tally& tally) {
  std::vector<std::pair<std::int64_t, std::int64_t>> waits;
  for (const RequestRow* row : requests) {
    if (row->warm_up != 0 || row->read_ns <= 0) continue;
    waits.emplace_back(row->load_done_ns - row->read_ns, row->load_done_ns);
    tally.loaded_bytes += static_cast<double>(row->dram_bytes + row->flash_bytes);
  }
  std::ranges::sort(waits);
  std::int64_t covered_to = 0;
  std::int64_t total = 0;
  for (const auto& [from, to] : waits) {
    total += std::max<std::int64_t>(0, to - std::max(from, covered_to));
    covered_to = std::max(covered_to, to);
  }
  tally.loading_s += static_cast<double>(total) / kNsPerSecond;
}

void add_cell(const Cell& cell, Tally& tally) {
  std::int64_t first = 0;
  std::int64_t last = 0;
  bool any = false;
  for (const RequestRow* row : cell.requests) {
    if (row->warm_up != 0) continue;
    first = any ? std::min(first, row->intended_ns) : row->intended_ns;
    last = any ? std::max(last, row->end_ns) : row->end_ns;
    any = true;
    add_request(*row, tally);
  }
  tally.span_s += static_cast<double>(last - first) / kNsPerSecond;
  add_loading(cell.requests, tally);
}

Pace pace_of(const Cell& cell) { return pace_of(*cell.row, cell.requests); }

// Cells of one arm that count, in the order of rounds.
std::vector<const Cell*> counted_cells(const Cells& cells, std::int64_t variant, std::int64_t arm) {
  std::vector<const Cell*> counted;
  for (const auto& [key, cell] : cells) {
    if (key[0] == variant && key[1] == arm && cell.row->complete()) counted.push_back(&cell);
  }
  return counted;
}

// A run without any complete cell still shows what it saw.
std::vector<const Cell*> shown_cells(const Cells& cells, std::int64_t variant, std::int64_t arm) {
  std::vector<const Cell*> shown = counted_cells(cells, variant, arm);
  if (!shown.empty()) return shown;
  for (const auto& [key, cell] : cells) {
    if (key[0] == variant && key[1] == arm && !cell.requests.empty()) shown.push_back(&cell);
  }
  return shown;
}

void add_saves(const CellRow& row, ArmSummary& arm) {
  arm.saved_blocks += static_cast<std::uint64_t>(row.saved_blocks);
  arm.save_refused_blocks += static_cast<std::uint64_t>(row.save_refused_blocks);
  arm.save_dropped_blocks += static_cast<std::uint64_t>(row.save_dropped_blocks);
  arm.ops_dropped += static_cast<std::uint64_t>(row.ops_dropped);
}

// `repeated`: the cells are rounds of the same requests.
ArmSummary summarise_arm(const ArmFacts& facts, std::span<const Cell* const> cells, bool repeated) {
  ArmSummary arm;
  arm.name = facts.name;
  arm.kind = facts.kind;
  arm.skipped = facts.skipped;
  arm.backlog.independent = !repeated;
  Tally tally;
  for (const Cell* cell : cells) {
    add_cell(*cell, tally);
    add_backlog(cell->requests, arm.backlog);
    arm.round_count += cell->row->complete();
    arm.wrong_blocks += static_cast<std::uint64_t>(cell->row->wrong_blocks);
    const Pace pace = pace_of(*cell);
    arm.lag_ns_p99 = std::max(arm.lag_ns_p99, pace.lag_ns_p99);
    arm.step_lag_share = std::max(arm.step_lag_share, pace.step_lag_share);
    arm.device_read_bytes += static_cast<std::uint64_t>(cell->row->device_read_bytes);
    arm.device_written_bytes += static_cast<std::uint64_t>(cell->row->device_written_bytes);
    arm.cpu_seconds_per_round += static_cast<double>(cell->row->process_cpu_ns) / kNsPerSecond;
    // Without a cache beyond HBM there is nowhere to save.
    if (facts.kind != "recompute") add_saves(*cell->row, arm);
  }
  arm.request_count = tally.ttft.values.size() + tally.ttft.censored;
  arm.failed_count = tally.failed;
  const std::uint64_t repetitions = repeated ? std::max<std::size_t>(1, cells.size()) : 1;
  arm.ttft_ns = tally.ttft.distribution(repetitions);
  arm.ns_per_output_token = tally.per_token.distribution(repetitions);
  arm.latency_ns = tally.latency.distribution(repetitions);
  arm.requests_per_second = tally.per_second(static_cast<double>(tally.done));
  arm.input_tokens_per_second = tally.per_second(tally.input_tokens);
  arm.output_tokens_per_second = tally.per_second(tally.output_tokens);
  if (tally.loading_s > 0) arm.load_bytes_per_second = tally.loaded_bytes / tally.loading_s;
  arm.blocks = tally.blocks;
  if (tally.where_count > 0) {
    const double count = static_cast<double>(tally.where_count);
    arm.where_ns = {tally.where_sum.queue / count, tally.where_sum.lookup / count,
                    tally.where_sum.read / count, tally.where_sum.recompute / count,
                    tally.where_sum.other / count};
  }
  if (!cells.empty()) {
    arm.device_read_bytes /= cells.size();
    arm.device_written_bytes /= cells.size();
    arm.cpu_seconds_per_round /= static_cast<double>(cells.size());
  }
  return arm;
}

void add_rounds(std::span<const Cell* const> cells, ArmSummary& arm) {
  for (const Cell* cell : cells) {
    if (!cell->row->complete()) continue;
    arm.ttft_ns_mean_by_round.push_back(summarise_arm({}, std::span(&cell, 1), false).ttft_ns.mean);
  }
}

std::vector<std::int64_t> rounds_of(std::span<const Cell* const> cells) {
  std::vector<std::int64_t> rounds;
  for (const Cell* cell : cells) rounds.push_back(cell->row->round);
  return rounds;
}

void add_operations(const RunLog& log, std::size_t index, std::span<const Cell* const> cells,
                    ArmSummary& arm) {
  const auto rounds = rounds_of(cells);
  const std::uint64_t repetitions =
      log.facts.workload_varies ? 1 : std::max<std::size_t>(1, rounds.size());
  for (OperationSample& sample : operation_samples(log, index, rounds)) {
    const std::uint64_t independent = sample.latency_ns.size() / repetitions;
    arm.operations.push_back({std::string(sample.name), sample.bytes, sample.failed_blocks,
                              distribution_of(std::move(sample.latency_ns), 0, independent)});
  }
}

// Rounds of one workload under a simulated clock are repetitions, not samples.
bool all_identical(std::span<const gate::Pair> pairs) {
  return pairs.size() > 1 && std::ranges::all_of(pairs, [&](const gate::Pair& pair) {
           return pair.candidate == pairs.front().candidate &&
                  pair.baseline == pairs.front().baseline;
         });
}

struct Metric {
  std::string_view name;
  gate::Direction better;
  std::optional<double> (*of)(const ArmSummary&);
};

constexpr std::array kMetrics{
    Metric{"ttft_ns.mean", gate::Direction::kLowerIsBetter,
           [](const ArmSummary& arm) { return arm.ttft_ns.mean; }},
    Metric{"ttft_ns.p50", gate::Direction::kLowerIsBetter,
           [](const ArmSummary& arm) { return arm.ttft_ns.p50; }},
    Metric{"ttft_ns.p90", gate::Direction::kLowerIsBetter,
           [](const ArmSummary& arm) { return arm.ttft_ns.p90; }},
    Metric{"ttft_ns.p99", gate::Direction::kLowerIsBetter,
           [](const ArmSummary& arm) { return arm.ttft_ns.p99; }},
    Metric{"output_tokens_per_second", gate::Direction::kHigherIsBetter,
           [](const ArmSummary& arm) -> std::optional<double> {
             return arm.output_tokens_per_second;
           }},
};

// The candidate's value and the baseline's of each round that both completed.
std::vector<gate::Pair> pairs_of(const Cells& cells, std::int64_t candidate, std::int64_t baseline,
                                 const Metric& metric) {
  std::vector<gate::Pair> pairs;
  for (const auto& [key, cell] : cells) {
    if (key[0] != 0 || key[1] != candidate || !cell.row->complete()) continue;
    const auto other = cells.find({0, baseline, key[2]});
    if (other == cells.end() || !other->second.row->complete()) continue;
    const Cell* ours = &cell;
    const Cell* theirs = &other->second;
    const auto a = metric.of(summarise_arm({}, std::span(&ours, 1), false));
    const auto b = metric.of(summarise_arm({}, std::span(&theirs, 1), false));
    if (a && b && *a > 0 && *b > 0 && pairs.size() < gate::kPairsMax) pairs.push_back({*a, *b});
  }
  return pairs;
}

std::vector<Comparison> compare(const RunFacts& facts, const Cells& cells) {
  std::vector<Comparison> comparisons;
  const auto names = facts.arm_names();
  const auto candidate = std::ranges::find(names, facts.candidate);
  if (candidate == names.end()) return comparisons;
  for (std::size_t baseline = 0; baseline < names.size(); ++baseline) {
    if (names[baseline] == facts.candidate) continue;
    for (const Metric& metric : kMetrics) {
      const auto pairs =
          pairs_of(cells, candidate - names.begin(), static_cast<std::int64_t>(baseline), metric);
      auto ratio = gate::paired_ratio(pairs);
      if (!ratio) continue;
      const bool identical = all_identical(pairs);
      if (identical) ratio->interval.reset();
      comparisons.push_back({std::string(names[baseline]), std::string(metric.name), metric.better,
                             identical, *ratio});
    }
  }
  return comparisons;
}

// What makes a run's figures worth nothing. Of one arm and one kind of trouble there is one line,
// with the rounds and the worst figure.
class Judge {
 public:
  explicit Judge(const RunFacts& facts) : facts_(facts) {}

  void look_at(const Cell& cell) {
    std::int64_t failed = 0;
    std::int64_t wrong_rows = 0;
    for (const RequestRow* row : cell.requests) {
      failed += row->state == static_cast<int>(RequestState::kFailed);
      wrong_rows += row->wrong_blocks;
    }
    note(cell, kWrong, static_cast<double>(std::max(cell.row->wrong_blocks, wrong_rows)), 0);
    note(cell, kFailed, static_cast<double>(failed), 0);
    note(cell, kCannotRun, cell.row->state == static_cast<int>(CellState::kFailed) ? 1 : 0, 0);
    if (!cell.row->complete()) return;
    const Pace pace = pace_of(cell);
    note(cell, kLag, pace.lag_ns_p99 / 1e6, facts_.thresholds.lag_ms_max);
    note(cell, kStepLag, 100 * pace.step_lag_share, 100 * facts_.thresholds.step_lag_share_max);
  }
  [[nodiscard]] std::vector<std::string> reasons() const {
    std::vector<std::string> lines;
    for (const auto& [key, trouble] : troubles_) lines.push_back(line(key, trouble));
    return lines;
  }
  [[nodiscard]] bool only_pace() const {
    return !troubles_.empty() && std::ranges::all_of(troubles_, [](const auto& entry) {
      const Kind kind = std::get<1>(entry.first);
      return kind == kLag || kind == kStepLag;
    });
  }
  // One line a kind of trouble, in the order of kinds.
  [[nodiscard]] std::vector<std::string> advice() const {
    std::set<Kind> kinds;
    for (const auto& [key, trouble] : troubles_) kinds.insert(std::get<1>(key));
    std::vector<std::string> lines;
    for (const Kind kind : kinds) lines.emplace_back(advice_on(kind));
    if (only_pace()) {
      lines.emplace_back(
          "what helps: a quieter machine or more cores; a slower workload (lower `sessions_per_s` "
          "or `speed_up`); a larger `scale`; or `--virtual`, where the simulated clock waits for "
          "the "
          "machine");
    }
    return lines;
  }

 private:
  enum Kind : std::uint8_t { kWrong, kFailed, kCannotRun, kLag, kStepLag };
  using Key = std::tuple<std::int64_t, Kind, std::int64_t>;  // arm, kind, variant
  struct Trouble {
    double worst = 0;
    std::string rounds;
  };

  void note(const Cell& cell, Kind kind, double value, double limit) {
    if (value <= limit) return;
    Trouble& trouble = troubles_[{cell.row->arm, kind, cell.row->variant}];
    trouble.worst = std::max(trouble.worst, value);
    trouble.rounds += fmt::format("{}{}", trouble.rounds.empty() ? "" : ", ", cell.row->round + 1);
  }
  static const char* advice_on(Kind kind) {
    switch (kind) {
      case kWrong:
        return "wrong bytes are a fault of the cache under test: keep this folder and report it";
      case kFailed:
        return "a request that failed can never fit into HBM: raise `hbm_kv_bytes` or `tp`";
      case kCannotRun:
        return "why an arm could not run stands in the notes of run.json";
      case kLag:
        return "client lag: requests were sent later than they were due, so latencies hold this "
               "machine's delay beside the arm's (send_ns - intended_ns in requests.csv)";
      case kStepLag:
        return "step lag: the emulated engine's steps ended later than the accelerator's would "
               "have, since this machine was busy with this or other work (step_lag_ns_total in "
               "cells.csv)";
    }
    return "";
  }
  [[nodiscard]] std::string line(const Key& key, const Trouble& trouble) const {
    const auto& [arm, kind, variant] = key;
    const std::string place =
        fmt::format("{}{}, round {}", facts_.arms[static_cast<std::size_t>(arm)].name,
                    variant == 0 ? "" : fmt::format(" (variant {})", variant), trouble.rounds);
    switch (kind) {
      case kWrong:
        return fmt::format("{}: up to {:.0f} blocks held wrong bytes", place, trouble.worst);
      case kFailed:
        return fmt::format("{}: up to {:.0f} requests failed", place, trouble.worst);
      case kCannotRun:
        return fmt::format("{}: could not run", place);
      case kLag:
        return fmt::format("{}: the client sent late, lag p99 up to {:.1f} ms, at most {:g}", place,
                           trouble.worst, facts_.thresholds.lag_ms_max);
      case kStepLag:
        return fmt::format(
            "{}: this machine, not the accelerator, set the pace: steps were late "
            "by up to {:.1f} % of the time, at most {:g}",
            place, trouble.worst, 100 * facts_.thresholds.step_lag_share_max);
    }
    return place;
  }

  const RunFacts& facts_;
  std::map<Key, Trouble> troubles_;
};

std::vector<VariantSummary> summarise_variants(const RunFacts& facts, const Cells& cells) {
  std::vector<VariantSummary> variants;
  for (std::size_t v = 0; v < facts.variants.size(); ++v) {
    VariantSummary variant{facts.variants[v].key, facts.variants[v].value, {}};
    for (std::size_t a = 0; a < facts.arms.size(); ++a) {
      const auto counted =
          counted_cells(cells, static_cast<std::int64_t>(v) + 1, static_cast<std::int64_t>(a));
      if (counted.empty()) continue;
      const ArmSummary arm = summarise_arm(facts.arms[a], counted, false);
      variant.arms.push_back({arm.name, arm.ttft_ns.mean, arm.output_tokens_per_second});
    }
    variants.push_back(std::move(variant));
  }
  return variants;
}

// Of an arm's requests that count, ascending; `value` gives none for a request without it.
template <class Value>
std::vector<double> counted(const RunLog& log, std::size_t arm, Value value) {
  const Cells cells = group(log);
  std::vector<double> values;
  for (const Cell* cell : shown_cells(cells, 0, static_cast<std::int64_t>(arm))) {
    for (const RequestRow* row : cell->requests) {
      if (row->warm_up != 0) continue;
      if (const std::optional<std::int64_t> ns = value(*row)) {
        values.push_back(static_cast<double>(*ns));
      }
    }
  }
  std::ranges::sort(values);
  return values;
}

}  // namespace

const VariantSummary::Arm* VariantSummary::arm(std::string_view name) const {
  const auto found = std::ranges::find(arms, name, &Arm::name);
  return found == arms.end() ? nullptr : &*found;
}

Distribution distribution_of(std::vector<double> values, std::uint64_t censored,
                             std::uint64_t independent) {
  Distribution result;
  result.count = values.size() + censored;
  result.censored = censored;
  if (values.empty()) return result;
  std::ranges::sort(values);
  double sum = 0;
  for (const double value : values) sum += value;
  if (censored == 0) {
    result.mean = sum / static_cast<double>(values.size());
    result.max = values.back();
  }
  const auto at = [&](double fraction) -> std::optional<double> {
    if (independent < telemetry::floor_of(fraction)) return std::nullopt;
    const double rank = fraction * static_cast<double>(result.count);
    if (rank > static_cast<double>(values.size())) return std::nullopt;
    return gate::order_quantile(values, std::min(1.0, rank / static_cast<double>(values.size())));
  };
  result.p50 = at(0.5);
  result.p90 = at(0.9);
  result.p99 = at(0.99);
  result.p999 = at(0.999);
  return result;
}

Summary summarise(const RunLog& log) {
  Summary summary;
  const Cells cells = group(log);
  summary.partial = log.facts.partial;
  bool first = true;
  for (std::size_t a = 0; a < log.facts.arms.size(); ++a) {
    const auto shown = shown_cells(cells, 0, static_cast<std::int64_t>(a));
    summary.arms.push_back(summarise_arm(log.facts.arms[a], shown, !log.facts.workload_varies));
    add_rounds(shown, summary.arms.back());
    add_operations(log, a, shown, summary.arms.back());
    const ArmSummary& arm = summary.arms.back();
    if (!arm.skipped.empty()) continue;
    summary.rounds_complete =
        first ? arm.round_count : std::min(summary.rounds_complete, arm.round_count);
    first = false;
  }
  Judge judge(log.facts);
  for (const auto& [key, cell] : cells) {
    if (key[1] < 0 || static_cast<std::size_t>(key[1]) >= log.facts.arms.size()) continue;
    judge.look_at(cell);
  }
  summary.invalid_reasons = judge.reasons();
  summary.valid = summary.invalid_reasons.empty();
  summary.inconclusive = judge.only_pace();
  summary.advice = judge.advice();
  summary.late = late_attempts(log);
  summary.comparisons = compare(log.facts, cells);
  summary.variants = summarise_variants(log.facts, cells);
  return summary;
}

std::vector<std::int64_t> shown_rounds(const RunLog& log, std::size_t arm) {
  const Cells cells = group(log);
  return rounds_of(shown_cells(cells, 0, static_cast<std::int64_t>(arm)));
}

std::vector<double> counted_ttft_ns(const RunLog& log, std::size_t arm) {
  return counted(log, arm, [](const RequestRow& row) {
    return row.has_first_token() ? std::optional(row.ttft_ns()) : std::nullopt;
  });
}

std::vector<double> counted_lag_ns(const RunLog& log, std::size_t arm) {
  return counted(log, arm, [](const RequestRow& row) { return std::optional(row.lag_ns()); });
}

}  // namespace forebay::report
