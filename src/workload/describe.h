// The numbers that a user checks first about a trace.
//
// Percentiles are nearest-rank and exact. Memory: 16 bytes a request, 12 a distinct block, 32 a
// session. Threads: one owner.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/error.h"
#include "workload/id_set.h"
#include "workload/reader.h"
#include "workload/request.h"

namespace forebay::workload {

struct LengthSummary {
  double mean = 0;
  std::uint64_t p50 = 0;
  std::uint64_t p90 = 0;
  std::uint64_t p99 = 0;
  std::uint64_t max = 0;
};

struct Description {
  std::string format;
  std::vector<std::string> notes;
  std::uint64_t skipped_count = 0;

  std::uint64_t request_count = 0;
  std::int64_t span_ns = 0;  // from the first arrival to the last
  double requests_per_s = 0;
  std::uint64_t distinct_arrival_count = 0;
  double gap_cv = 0;              // deviation over mean of the gaps between arrivals; Poisson: 1
  double peak_10s_over_mean = 0;  // the fullest 10 s window over the mean

  LengthSummary input_tokens;
  LengthSummary output_tokens;
  std::uint64_t input_tokens_total = 0;
  std::uint64_t output_tokens_total = 0;

  std::uint64_t session_count = 0;
  LengthSummary turns;              // a session
  std::uint64_t waiting_count = 0;  // requests that wait for a parent
  LengthSummary think_ms;           // of those

  std::uint32_t block_tokens = 0;  // of the last request that has blocks; 0: no block identities
  std::uint64_t accessed_blocks = 0;
  std::uint64_t unique_blocks = 0;
  // An infinite cache: each request hits its leading run of blocks seen before.
  std::uint64_t hit_blocks = 0;
  double infinite_hit_ratio = 0;         // hit_blocks / accessed_blocks
  double reused_request_ratio = 0;       // requests with at least one hit block
  double reused_token_ratio = 0;         // input tokens inside hit blocks
  std::uint64_t working_set_tokens = 0;  // inside distinct blocks
  std::uint64_t kv_bytes_per_token = 0;  // as told; 0: not told
  std::uint64_t working_set_bytes = 0;
};

class Describer {
 public:
  void add(const Request& request);
  // `kv_bytes_per_token`: of the model that would serve it; 0: not known.
  [[nodiscard]] Description finish(std::uint64_t kv_bytes_per_token);

 private:
  void add_blocks(const Request& request);
  void describe_arrivals(Description& result);

  Description sums_;
  std::vector<std::int64_t> arrivals_ns_;
  std::vector<std::uint32_t> input_tokens_;
  std::vector<std::uint32_t> output_tokens_;
  std::vector<std::uint32_t> think_ms_;
  std::unordered_map<std::uint64_t, std::uint32_t> turns_;
  IdSet seen_;
  std::uint64_t reused_requests_ = 0;
  std::uint64_t hit_tokens_ = 0;
};

// Reads to the end. Errors are the reader's.
[[nodiscard]] Result<Description> describe(TraceReader& reader, std::uint64_t kv_bytes_per_token);

}  // namespace forebay::workload
