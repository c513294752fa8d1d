// One request on its way through the emulated engine, and where its time to first token goes.
//
// Threads: one loop.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/clock.h"
#include "engine/emulated.h"
#include "engine/hbm_pool.h"
#include "engine/prompt_blocks.h"

namespace forebay::engine {

// Until its first token a request is in exactly one of these at any instant, so that the parts of
// its TTFT sum to the whole by construction.
enum class Phase : std::uint8_t { kOther, kQueue, kLookup, kRead, kRecompute };
inline constexpr std::size_t kPhaseCount = 5;

class PhaseClock {
 public:
  void start(Nanos at, Phase phase) {
    since_ = at;
    phase_ = phase;
    open_ = true;
  }
  void enter(Phase phase, Nanos now) {
    if (!open_) return;
    spent_[static_cast<std::size_t>(phase_)] += now - since_;
    since_ = now;
    phase_ = phase;
  }
  // The first token is out: later phases no longer count.
  void stop(Nanos now) {
    enter(phase_, now);
    open_ = false;
  }
  [[nodiscard]] std::int64_t ns(Phase phase) const {
    return spent_[static_cast<std::size_t>(phase)].count();
  }

 private:
  std::array<Nanos, kPhaseCount> spent_{};
  Nanos since_{0};
  Phase phase_ = Phase::kOther;
  bool open_ = false;
};

// Where a sequence stands; the scheduler has one container for each.
//
//   kQueued ----------------------------------------------> kRunning --> kEnded
//      |  ^--(nothing loaded)--.                                | preempted: back to kQueued
//      `-> kLoadWaiting --> kLoading --> kReady -------------^
enum class SequenceState : std::uint8_t {
  kQueued,       // waits for a place in the batch
  kLoadWaiting,  // something to load, waits for its turn (bytes in flight, HBM)
  kLoading,      // the backend is at work
  kReady,        // loaded; waits for a place in the batch
  kRunning,      // in the batch: prefill, then decode
  kEnded,
};

struct Sequence {
  const workload::Request* request = nullptr;
  std::uint64_t order = 0;  // first come, first served: position in the workload's span
  RequestRecord record;
  PhaseClock phase;
  SequenceState state = SequenceState::kQueued;

  PromptBlocks blocks;
  std::vector<Slot> slots;    // held, in order of the sequence's blocks
  std::size_t published = 0;  // leading slots whose contents are in the HBM index
  std::size_t own_from = 0;   // first block that this sequence computes itself
  std::uint32_t input_tokens = 0;
  std::uint32_t output_tokens = 0;
  std::uint32_t computed_tokens = 0;  // KV in place
  std::uint32_t target_tokens = 0;    // prefill ends here: the prompt, after a preemption more
  std::uint32_t generated_tokens = 0;
  std::uint64_t load_bytes = 0;  // of the load budget, held until it joins the batch
  Nanos load_wait_until{0};
  bool admitted = false;           // has left the queue once
  bool load_refused = false;       // a load failed or took too long: compute instead
  std::uint64_t looked_up_at = 0;  // EngineContext::version of the last external lookup
  std::size_t looked_up_from = 0;  // its first block
  std::size_t worth_blocks = 0;    // its answer

  [[nodiscard]] bool prefilling() const { return computed_tokens < target_tokens; }
};

}  // namespace forebay::engine
