// The emulated engine: an LLM server's scheduler with the accelerator's time taken from a table and
// every KV byte real (as MLPerf Storage emulates accelerators by sleeping).
//
// Continuous batching with chunked prefill under a token budget a step, an HBM block pool with its
// own prefix cache (LRU, leaf first), preemption by recompute when the pool is full, decode steps.
// KV that is loaded is checked byte by byte against what the block's name must give; KV that is
// computed is written and offered to the backend. Runs on the loop's clock: true time, or virtual
// with io::sim.
//
// Limits: a step's prefill and decode times add up (engines overlap them in part); decode cost does
// not grow with a sequence's own context; a prompt gets its HBM at once, not chunk by chunk; reuse
// is by whole blocks of prompts.
//
// Threads: one loop.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/task.h"
#include "engine/kv_backend.h"
#include "io/loop.h"
#include "telemetry/histogram.h"
#include "workload/request.h"

namespace forebay::engine {

struct EngineOptions {
  std::uint64_t kv_bytes_per_token = 131072;  // after division by `scale`
  std::uint32_t block_tokens = 512;           // tokens per KV block handed to the backend
  std::uint64_t hbm_kv_bytes = 0;             // size of the block pool
  double prefill_tokens_per_second = 10000;   // of a whole card group, at step_token_budget
  double prefill_seconds_per_token_pair = 0;  // attention: for each (token, token before it); or 0
  double decode_seconds_per_step = 0.02;      // of one step with any decode in it, plus
  double decode_seconds_per_sequence = 0;     // for each sequence in the batch
  std::uint32_t step_token_budget = 8192;     // chunked prefill: tokens computed a step
  std::uint32_t sequences_max = 256;          // in the running batch
  std::uint64_t load_in_flight_bytes_max = 1ULL << 30;  // loads into HBM beside the steps; at most
                                                        // half of HBM
  std::uint64_t save_in_flight_bytes_max = 1ULL << 30;  // offered to the backend; at most a quarter
                                                        // of HBM, what is above is not offered
  double link_bytes_per_second = 0;                     // host to device; 0: free
  Nanos load_deadline{std::chrono::seconds(30)};
  std::uint64_t content_seed = 1;
  store::KeySpace space;
};

enum class RequestState : std::uint8_t { kDone, kFailed, kUnfinished };

// One row of the raw log; all instants from the run's start.
struct RequestRecord {
  std::uint64_t index = 0;
  std::uint64_t session = 0;
  RequestState state = RequestState::kUnfinished;
  std::int64_t intended_ns = 0;     // when it should have started: latency counts from here
  std::int64_t send_ns = 0;         // when the client really sent it; the difference is lag
  std::int64_t admitted_ns = 0;     // left the queue
  std::int64_t load_done_ns = 0;    // external KV is in place (= admitted_ns without a load)
  std::int64_t first_token_ns = 0;  // 0: there was none
  std::int64_t end_ns = 0;
  std::uint32_t input_tokens = 0;
  std::uint32_t output_tokens = 0;
  std::uint32_t hbm_blocks = 0;  // found in the engine's own cache
  std::array<std::uint32_t, store::kTierCount> tier_blocks{};
  std::array<std::uint64_t, store::kTierCount> tier_bytes{};
  std::uint32_t recomputed_blocks = 0;
  std::uint32_t preemptions = 0;
  std::uint32_t wrong_blocks = 0;  // loaded bytes that were not what the name demands: must be 0
  // Where TTFT went; the five sum to first_token_ns - intended_ns.
  std::int64_t queue_ns = 0;
  std::int64_t lookup_ns = 0;
  std::int64_t read_ns = 0;       // waiting for the backend's bytes
  std::int64_t recompute_ns = 0;  // prefill steps
  std::int64_t other_ns = 0;      // lag of the client, the emulator's check of loaded bytes
};

struct EngineResult {
  std::vector<RequestRecord> records;  // in order of index
  Nanos span{0};                       // from the first intended start to the last end
  std::uint64_t steps = 0;
  std::uint64_t prefill_tokens = 0;
  std::uint64_t decode_tokens = 0;
  std::uint64_t wrong_blocks = 0;
  telemetry::Histogram lag_ns;  // send - intended

  Status status;  // why the engine could not start (options, memory); then there are no records
  // The emulator's own work and how late it was: steps end by the clock, so a step that ended late
  // means that the machine, not the accelerator of the table, set the pace.
  std::int64_t emulator_cpu_ns = 0;  // writing and checking contents
  telemetry::Histogram step_lag_ns;  // actual end of a step - its planned end
  std::uint64_t filled_bytes = 0;
  std::uint64_t checked_bytes = 0;
  std::uint64_t load_timeouts = 0;        // loads that the engine gave up at load_deadline
  std::uint64_t saved_blocks = 0;         // offered to the backend
  std::uint64_t save_dropped_blocks = 0;  // not offered: save_in_flight_bytes_max
  std::uint64_t hbm_evicted_blocks = 0;
  std::uint64_t preemptions = 0;
};

// Open loop over `requests` (sorted by arrival); a request with a parent starts think_ns after the
// parent's end, or at its arrival if that is later. Ends when all ended, or soon after `cancel`
// (may be null); then the records are those of the requests that had started, the rest of them
// kUnfinished. A request that cannot fit into HBM is kFailed.
//
// The emulator keeps time itself: a backend that does not answer by load_deadline is left behind
// and its blocks are recomputed. `requests` must outlive the task; `backend` too, and if it never
// ends a call, the loop as well. KV of output tokens is not cached: traces give it no identity.
[[nodiscard]] Task<EngineResult> run_emulated(io::Loop* loop,
                                              std::span<const workload::Request> requests,
                                              KvBackend* backend, EngineOptions options,
                                              CancelSource* cancel,
                                              std::function<void(std::size_t done)> on_progress);

}  // namespace forebay::engine
