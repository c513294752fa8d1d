// Every figure of a run, computed from its raw logs and nothing else.
//
// `forebay run` calls this once at its end, `forebay report show` again on what it reads back: the
// two must agree. Counted are requests after the warm-up in complete cells; what a stopped run left
// unfinished, and requests that failed, stand in the distributions as later than everything else
// (censored), never left out.
//
// Units as the names end; per-second figures are tokens or bytes over a cell's counted span (first
// intended start to last end). A percentile below its sample floor (telemetry::floor_of), or one
// that falls among the censored, is absent. Rounds that repeat the same requests do not add to the
// sample: the floor then is held against one round's count. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gate/statistics.h"
#include "report/backlog.h"
#include "report/folder.h"
#include "report/late.h"

namespace forebay::report {

struct Distribution {
  std::uint64_t count = 0;     // censored ones too
  std::uint64_t censored = 0;  // later than any that is known
  std::optional<double> mean;  // absent when any is censored
  std::optional<double> p50;
  std::optional<double> p90;
  std::optional<double> p99;
  std::optional<double> p999;
  std::optional<double> max;
};

// `values` of what ended; `censored` more did not. `independent`: how many of them all are not
// repetitions, what the sample floors are held against.
[[nodiscard]] Distribution distribution_of(std::vector<double> values, std::uint64_t censored,
                                           std::uint64_t independent);

// Where the mean TTFT went; the five sum to it.
struct WhereNs {
  double queue = 0;
  double lookup = 0;
  double read = 0;
  double recompute = 0;
  double other = 0;
};

struct BlockSources {
  std::uint64_t hbm = 0;
  std::uint64_t dram = 0;
  std::uint64_t flash = 0;
  std::uint64_t recomputed = 0;
  [[nodiscard]] std::uint64_t total() const { return hbm + dram + flash + recomputed; }
};

// The operations of one class (operations.h).
struct OperationSummary {
  std::string name;
  std::uint64_t bytes = 0;
  std::uint64_t failed_blocks = 0;
  Distribution latency_ns;
};

struct ArmSummary {
  std::string name;
  std::string kind;
  std::string skipped;
  std::uint64_t round_count = 0;  // complete
  std::uint64_t request_count = 0;
  std::uint64_t failed_count = 0;
  std::uint64_t wrong_blocks = 0;
  Distribution ttft_ns;
  Distribution ns_per_output_token;  // after the first, of requests with more than one
  Distribution latency_ns;           // intended start to end
  double requests_per_second = 0;
  double input_tokens_per_second = 0;
  double output_tokens_per_second = 0;
  std::optional<double> load_bytes_per_second;  // over the time in which anybody waited for bytes
  BlockSources blocks;
  WhereNs where_ns;
  std::vector<std::optional<double>> ttft_ns_mean_by_round;  // of complete rounds
  double lag_ns_p99 = 0;                                     // of the worst cell; warm-up included
  double step_lag_share = 0;
  std::uint64_t device_read_bytes = 0;  // a round
  std::uint64_t device_written_bytes = 0;
  double cpu_seconds_per_round = 0;
  // Over all counted rounds. Blocks offered to the cache; of them refused; and those that were not
  // even offered since too many bytes were on their way.
  std::uint64_t saved_blocks = 0;
  std::uint64_t save_refused_blocks = 0;
  std::uint64_t save_dropped_blocks = 0;
  std::uint64_t ops_dropped = 0;  // fell out of the bounded log, so not in `operations`
  std::vector<OperationSummary> operations;
  Backlog backlog;  // said below the table, not a figure of summary.json

  [[nodiscard]] bool ran() const { return skipped.empty() && request_count > 0; }
};

// The candidate against another arm, one metric.
struct Comparison {
  std::string baseline;
  std::string metric;  // as in ArmSummary
  gate::Direction better = gate::Direction::kLowerIsBetter;
  // Rounds of a simulation that are the same to the nanosecond are one sample: no interval.
  bool identical = false;
  gate::PairedRatio ratio;
};

struct VariantSummary {
  std::string key;
  std::string value;
  struct Arm {
    std::string name;
    std::optional<double> ttft_ns_mean;
    double output_tokens_per_second = 0;
  };
  std::vector<Arm> arms;                                      // those that ran
  [[nodiscard]] const Arm* arm(std::string_view name) const;  // null: it did not
};

struct Summary {
  bool valid = true;
  // Not valid, and only since this machine did not keep pace: another try may tell.
  bool inconclusive = false;
  std::vector<std::string> invalid_reasons;
  std::vector<std::string> advice;  // what the reasons mean and what helps, one line a kind
  std::string partial;
  std::uint64_t rounds_complete = 0;  // of every arm that ran
  std::vector<LateAttempt> late;      // done again, in no figure
  std::vector<ArmSummary> arms;
  std::vector<Comparison> comparisons;
  std::vector<VariantSummary> variants;
};

[[nodiscard]] Summary summarise(const RunLog& log);
// Rounds of variant 0 whose cells the figures of an arm are made of, ascending.
[[nodiscard]] std::vector<std::int64_t> shown_rounds(const RunLog& log, std::size_t arm);
// For drawing, ascending, of the requests that count: the TTFTs behind an arm's distribution, and
// how late each was sent.
[[nodiscard]] std::vector<double> counted_ttft_ns(const RunLog& log, std::size_t arm);
[[nodiscard]] std::vector<double> counted_lag_ns(const RunLog& log, std::size_t arm);

// Canonical: the same summary gives the same text.
[[nodiscard]] std::string summary_to_json(const Summary& summary, const RunFacts& facts);

// What two summaries differ in, one line each ("arms.0.ttft_ns.p50: the summary says 3, the raw log
// gives 4"); at most kDifferencesMax.
inline constexpr std::size_t kDifferencesMax = 20;
[[nodiscard]] std::vector<std::string> compare_summaries(std::string_view stored_json,
                                                         std::string_view recomputed_json);

}  // namespace forebay::report
