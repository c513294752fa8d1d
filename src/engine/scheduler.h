// Who runs in the next step: continuous batching, first come, first served, under a token budget.
//
// A sequence that has something to load does so outside the batch and takes no place in it; the
// others compute meanwhile. A sequence gets the HBM of its whole prompt before it loads or
// computes, so that only decoding can run short; then the youngest sequence gives way and is
// recomputed (preemption). The oldest sequence never gives way, so something always moves.
//
// Threads: one loop. Suspends: never.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "engine/load_path.h"

namespace forebay::engine {

struct Chunk {
  Sequence* sequence = nullptr;
  std::uint32_t tokens = 0;
};

struct Step {
  std::vector<Chunk> prefill;
  std::vector<Sequence*> decode;
  std::uint64_t prefill_tokens = 0;
  Nanos prefill_time{0};
  Nanos decode_time{0};

  [[nodiscard]] bool empty() const { return prefill.empty() && decode.empty(); }
  [[nodiscard]] Nanos time() const { return prefill_time + decode_time; }
};

class Scheduler {
 public:
  // `on_work`: something may be possible now that was not before.
  Scheduler(std::shared_ptr<EngineContext> context, std::function<void()> on_work);

  // A new sequence; its prompt fits into HBM. Starts its load at once when there is one to start.
  void arrive(Sequence& sequence);
  // Fills `step` (reused by the caller) with the next batch. Empty: nothing can run now.
  void compose(Step& step);
  // The sequence has its last token, or is given up: its blocks go back, its contents stay
  // findable. Not for one that is loading.
  void end(Sequence& sequence);
  // The oldest sequence that is neither loading nor ended; null without one.
  [[nodiscard]] Sequence* oldest() const;
  [[nodiscard]] bool loads_idle() const { return loads_.idle(); }
  void abandon_loads() { loads_.abandon_all(); }

 private:
  using ByOrder = std::map<std::uint64_t, Sequence*>;
  [[nodiscard]] std::size_t reusable_blocks_max(const Sequence& sequence) const;
  [[nodiscard]] HbmPool::Match match_hbm(const Sequence& sequence) const;
  [[nodiscard]] std::size_t worth_loading(Sequence& sequence, std::size_t from);
  [[nodiscard]] bool fits(const Sequence& sequence, const HbmPool::Match& hbm) const;
  [[nodiscard]] bool reserve(Sequence& sequence, const HbmPool::Match& hbm);
  void release_slots(Sequence& sequence);
  void enqueue(Sequence& sequence);
  void wait_for_load(Sequence& sequence);
  void pump_loads();
  [[nodiscard]] bool start_load(Sequence& sequence);
  void expire_load_waits();
  void arm_load_wait_timer();
  void load_settled(Sequence& sequence, const LoadOutcome& outcome);
  [[nodiscard]] bool keep_loaded(Sequence& sequence, std::size_t good_blocks);
  void take_decoding(Step& step, std::uint64_t& budget);
  void take_prefilling(Step& step, std::uint64_t& budget);
  void take_waiting(Step& step, std::uint64_t& budget);
  enum class Opened : std::uint8_t { kBlocked, kLoads, kJoined };
  [[nodiscard]] Opened open_queued(Sequence& sequence);
  void join(Sequence& sequence);
  void add_chunk(Step& step, Sequence& sequence, std::uint64_t& budget);
  [[nodiscard]] bool grow(Sequence& sequence);
  [[nodiscard]] Sequence* youngest_after(std::uint64_t order) const;
  [[nodiscard]] bool is_oldest(const Sequence& sequence) const;
  void preempt(Sequence& sequence);
  void time(Step& step) const;

  std::shared_ptr<EngineContext> context_;
  std::function<void()> on_work_;
  LoadPath loads_;
  ByOrder queued_;
  ByOrder load_waiting_;
  ByOrder ready_;
  ByOrder running_;
  io::Loop::Timer load_wait_timer_;
};

}  // namespace forebay::engine
