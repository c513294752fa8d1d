// A joint test as its user writes it: docs/formats/joint-spec.md. Every key stands once, in
// spec_fields.cc, which reader, writer and document share.
//
// Units end the names: seconds `_s`, milliseconds `_ms`, bytes, tokens. Sizes and rates are those
// of the case; what runs is divided by `scale`. 0 means "from the table" or "no limit" where the
// key says so. Values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/fields.h"
#include "core/diagnostics.h"
#include "report/facts.h"
#include "workload/generator.h"

namespace forebay::joint {

struct RunSpec {
  std::string name;
  std::uint64_t seed = 1;
  std::uint64_t rounds = 6;
  std::uint64_t requests = 0;
  double warm_up_s = 0;
  double scale = 1;
  std::string output;
  std::string state = "fresh";
  bool prepare = false;
  bool restart = false;
  bool virtual_time = false;
  std::string candidate;
  double lag_ms_max = 10;
  double step_lag_share_max = 0.05;
  std::uint64_t late_repeats = 6;
};

struct WorkloadSpec {
  std::string kind;  // file, generated, batch
  // file
  std::string file;
  std::string origin;
  std::string format;
  double from_s = 0;
  double length_s = 0;
  double speed_up = 1;
  // generated
  std::string arrivals = "poisson";
  workload::GeneratorOptions generator;
  // batch
  std::uint64_t batch_requests = 16;
  std::uint64_t input_tokens = 8192;
  std::uint64_t output_tokens = 64;
  std::uint64_t shared_tokens = 0;
};

struct EngineSpec {
  std::string model;
  std::string accelerator;
  std::uint64_t tp = 1;
  std::uint64_t block_tokens = 0;
  std::uint64_t kv_bytes_per_token = 0;
  std::uint64_t kv_element_bytes = 0;
  double weight_bytes = 0;
  std::uint64_t hbm_kv_bytes = 0;
  double prefill_flops_share = 0.4;
  double prefill_tokens_per_second = 0;
  double prefill_seconds_per_token_pair = 0;
  double decode_seconds_per_step = 0;
  double decode_seconds_per_sequence = 0;
  std::uint64_t step_token_budget = 8192;
  std::uint64_t sequences_max = 256;
  double link_bytes_per_second = 0;
  std::uint64_t load_in_flight_bytes_max = 0;
  std::uint64_t save_in_flight_bytes_max = 0;
  double load_deadline_s = 30;
};

struct StorageSpec {
  std::string path;
  std::string device;
  std::uint64_t flash_bytes = 0;
  std::uint64_t dram_bytes = 0;
  double bytes_per_second = 0;
  double operations_per_second = 0;
  double latency_us = 0;
};

struct ArmSpec {
  std::string name;
  std::string kind;  // recompute, dram, files, forebay
  std::uint64_t dram_bytes = 0;
  std::uint64_t flash_bytes = 0;
  double bytes_per_second = 0;
  double operations_per_second = 0;
  double latency_us = 0;
  std::string policy = "forebay";  // read_spec(): of arms dram and files, lru
  std::string admission = "all";
  std::uint64_t read_threads = 16;
  std::uint64_t write_threads = 16;
  std::uint64_t blocks_per_job = 0;
};

struct SensitivitySpec {
  std::string key;
  std::vector<std::string> values;
  std::string place;  // "joint.toml:12": no key
};

struct Spec {
  RunSpec run;
  WorkloadSpec workload;
  EngineSpec engine;
  StorageSpec storage;
  std::vector<ArmSpec> arms;
  std::vector<report::PublishedRow> published;
  std::vector<report::Assumption> assumptions;
  std::vector<SensitivitySpec> sensitivity;
};

// What bytes of the case are as it runs.
[[nodiscard]] inline std::uint64_t scaled_bytes(std::uint64_t bytes, double scale) {
  return static_cast<std::uint64_t>(static_cast<double>(bytes) / scale);
}

struct ReadSpec {
  std::string file;               // as the user named it
  std::string text;               // its contents
  std::vector<std::string> sets;  // "run.rounds=3", "arm.forebay.policy=lru": replace what it says
  bool files_needed = true;  // false: the workload's file may be gone (a result looked at later)
};

inline constexpr std::size_t kSpecBytesMax = config::kDocumentBytesMax;
inline constexpr std::size_t kArmsMax = 16;

// The spec, or nothing after noting all mistakes: unknown and misspelt keys, wrong types, values
// out of range, contradictions, files that are not there. Reads no file but to see that the
// workload's exists.
[[nodiscard]] std::optional<Spec> read_spec(const ReadSpec& input, Diagnostics& mistakes);

// The whole spec as TOML: read_spec() of it gives the same spec again.
[[nodiscard]] std::string spec_to_toml(const Spec& spec);

// `text` between quotes, as TOML writes it.
[[nodiscard]] std::string toml_quoted(const std::string& text);

}  // namespace forebay::joint
