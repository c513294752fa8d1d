// What the emulator needs to know of a deployment: from a published measurement where there is one,
// else computed from arithmetic and bandwidth, and it says which.
//
// Every number may be overridden by its user: fill EngineOptions from it, then change what you know
// better. Units: tokens, seconds, bytes. Threads: pure.
#pragma once

#include <cstdint>
#include <string>

#include "engine/accelerator.h"
#include "engine/emulated.h"
#include "engine/model.h"

namespace forebay::engine {

// Shares of the peaks that real engines reach: assumptions, stated with every computed figure.
struct TimingAssumptions {
  double prefill_flops_share = 0.4;     // model FLOPs utilisation of prefill
  double decode_bandwidth_share = 0.7;  // of HBM bandwidth while weights and KV stream
  double hbm_usable_share = 0.9;        // for weights and KV together
  double decode_context_tokens = 8192;  // mean context whose KV a decode step reads
};

struct EngineTiming {
  std::uint64_t kv_bytes_per_token = 0;
  double prefill_tokens_per_second = 0;
  double prefill_seconds_per_token_pair = 0;  // 0 where the published rate holds it already
  double decode_seconds_per_step = 0;
  double decode_seconds_per_sequence = 0;
  std::uint64_t hbm_kv_bytes = 0;    // left for KV beside the weights, copies not counted
  double link_bytes_per_second = 0;  // of KV bytes into the whole group
  std::string kv_source;
  std::string prefill_source;
  std::string decode_source;
  std::string hbm_source;
  std::string link_source;
};

// `tp` cards serve one copy of the model. kInvalid: tp is 0, or the weights do not fit.
[[nodiscard]] Result<EngineTiming> timing_for(const ModelGeometry& model,
                                              const Accelerator& accelerator, std::uint32_t tp,
                                              const TimingAssumptions& assumptions = {});

// The timing as options of the emulator, KV bytes and memory divided by `scale` (>= 1): a large
// model in true time on a small machine.
void apply_timing(const EngineTiming& timing, double scale, EngineOptions& options);

}  // namespace forebay::engine
