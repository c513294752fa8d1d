// run.json: what a result folder declares about its run and cannot be computed from the raw logs.
//
// Names, kinds, thresholds, assumptions with their sources, published figures, notes. Everything
// measured is in the raw logs instead. docs/formats/result-folder.md. Values; threads: pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/diagnostics.h"

namespace forebay::report {

inline constexpr int kFactsVersion = 1;

struct ArmFacts {
  std::string name;
  std::string kind;     // recompute, dram, files, forebay
  std::string detail;   // one line: tiers and budgets as they ran
  std::string skipped;  // why it did not run; "": it ran
};

// Somebody else's figure, shown beside ours in a row of its own.
struct PublishedRow {
  std::string name;
  std::string source;  // who, where, and whether it is a vendor's claim
  std::optional<double> ttft_s;
  std::optional<double> output_tokens_per_second;
  std::optional<double> load_bytes_per_second;
};

// One input of the result that was not measured here.
struct Assumption {
  std::string name;
  std::string value;
  std::string source;
};

// A re-run with one input changed.
struct Variant {
  std::string key;
  std::string value;
};

struct Thresholds {
  double lag_ms_max = 10;            // p99 of send - intended, over a cell
  double step_lag_share_max = 0.05;  // of a cell's span
};

struct RunFacts {
  std::string name;
  std::string forebay_version;
  std::string started_utc;  // "2026-12-01T10:42:52Z"
  std::uint64_t seed = 0;
  std::uint64_t rounds_wanted = 0;
  double scale = 1;
  bool virtual_time = false;
  std::string partial;  // why the run ended early; "": it did not
  std::string candidate;
  std::uint64_t kv_bytes_per_token = 0;  // as it ran, after scale
  std::uint32_t block_tokens = 0;
  std::string workload;          // one line
  bool workload_varies = false;  // by round; else rounds repeat the same requests
  Thresholds thresholds;
  std::vector<std::string> disks;  // simulated ones and throttles, with their rates; one line each
  std::vector<ArmFacts> arms;
  std::vector<PublishedRow> published;
  std::vector<Assumption> assumptions;
  std::vector<Variant> variants;  // of rows with variant 1, 2, ...
  std::vector<std::string> notes;

  [[nodiscard]] std::vector<std::string_view> arm_names() const;
};

[[nodiscard]] std::string facts_to_json(const RunFacts& facts);
// Nothing after noting what is wrong; `file` names the text in messages.
[[nodiscard]] std::optional<RunFacts> facts_from_json(std::string_view file, std::string_view text,
                                                      Diagnostics& mistakes);

}  // namespace forebay::report
