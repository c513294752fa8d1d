// What the parts of one emulated engine share: its options, its HBM, its backend, its counters.
//
// Ownership: shared, because a load or save that a backend never ends must find valid memory for as
// long as it lives. Threads: one loop.
#pragma once

#include <memory>
#include <span>

#include "engine/content.h"
#include "engine/emulated.h"
#include "engine/hbm_pool.h"

namespace forebay::engine {

struct EngineContext {
  io::Loop* loop = nullptr;
  KvBackend* backend = nullptr;
  EngineOptions options;
  std::shared_ptr<HbmPool> pool;
  std::uint64_t block_bytes = 0;
  std::uint64_t layout = 0;   // layout_word() of the key space
  std::uint64_t version = 1;  // moves whenever a lookup may answer differently than before
  Nanos origin{0};            // instants in records count from here
  EngineResult result;

  [[nodiscard]] std::int64_t since_origin(Nanos at) const { return (at - origin).count(); }
  [[nodiscard]] ContentKey key_of(std::uint64_t name) const {
    return content_key(options.content_seed, name, layout);
  }
};

// Adds the CPU time of a scope to EngineResult::emulator_cpu_ns.
class CpuMeter {
 public:
  explicit CpuMeter(EngineContext& context) : context_(context), start_(thread_cpu_time()) {}
  ~CpuMeter() { context_.result.emulator_cpu_ns += (thread_cpu_time() - start_).count(); }
  CpuMeter(const CpuMeter&) = delete;
  CpuMeter& operator=(const CpuMeter&) = delete;

 private:
  EngineContext& context_;
  Nanos start_;
};

// Between two slices of this much content work the loop gets a turn: under half a millisecond.
inline constexpr std::uint64_t kContentSliceBytes = 4ULL << 20;

}  // namespace forebay::engine
