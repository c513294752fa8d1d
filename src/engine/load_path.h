// Loads of external KV into HBM, beside the steps: started by the scheduler, bounded in bytes,
// checked byte by byte, ended by the emulator's own clock when the backend does not.
//
// A load that is given up keeps running in the background: its slots stay leased to it until the
// backend lets go, and its bytes stay in the budget, so that a dead backend can take at most half
// of HBM and then no more loads start.
//
// The link between host and device is one more resource: bytes pass it at link_bytes_per_second,
// first come, first served, while the backend is still reading (engines stream through pinned
// buffers), so a load ends at the later of the backend's end and the link's.
//
// Threads: one loop. Blocks: never.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

#include "engine/engine_context.h"
#include "engine/sequence.h"

namespace forebay::engine {

struct LoadOutcome {
  std::size_t good_blocks = 0;  // leading, and all bytes right
  std::size_t wrong_blocks = 0;
  bool timed_out = false;
  KvLoad report;
};

class LoadPath {
 public:
  using OnSettled = std::function<void(Sequence&, const LoadOutcome&)>;

  // `on_call_ended`: a call into the backend has ended, settled or not.
  LoadPath(std::shared_ptr<EngineContext> context, OnSettled on_settled,
           std::function<void()> on_call_ended);
  ~LoadPath();
  LoadPath(const LoadPath&) = delete;
  LoadPath& operator=(const LoadPath&) = delete;

  // A load larger than the whole budget may start when nothing else is in flight.
  [[nodiscard]] bool has_room(std::uint64_t bytes) const;
  // Loads blocks [first, first + count) of the sequence into its slots. Calls on_settled later,
  // never from inside, exactly once unless abandon() came first.
  void start(Sequence& sequence, std::size_t first, std::size_t count);
  // The budget's bytes of a settled load come back: the sequence joined the batch or was requeued.
  void release_budget(Sequence& sequence);
  [[nodiscard]] std::size_t loading_count() const { return loads_.size(); }
  // Nothing settles after this.
  void abandon_all();
  // Every call into the backend has ended.
  [[nodiscard]] bool idle() const { return budget_->calls_in_flight == 0; }

 private:
  struct Budget {
    std::uint64_t in_flight_bytes = 0;
    std::uint64_t bytes_max = 0;
    std::uint64_t calls_in_flight = 0;
    Nanos link_free_at{0};
    std::function<void()> on_call_ended;
  };
  struct Load;
  static Task<void> run(std::shared_ptr<EngineContext> context, std::shared_ptr<Budget> budget,
                        std::shared_ptr<Load> load);
  static Task<void> cross_link(EngineContext* context, Budget* budget, Nanos start,
                               std::uint64_t bytes);
  static Task<void> check(EngineContext* context, Load* load, LoadOutcome* outcome);
  [[nodiscard]] static std::size_t check_slice(EngineContext& context,
                                               std::span<const KvBlock> blocks, std::size_t from,
                                               LoadOutcome& outcome);
  void arm_deadline(const std::shared_ptr<Load>& load, Nanos at);
  void settle(Load& load, const LoadOutcome& outcome);

  std::shared_ptr<EngineContext> context_;
  std::shared_ptr<Budget> budget_;
  OnSettled on_settled_;
  std::unordered_map<Load*, std::shared_ptr<Load>> loads_;  // not settled
};

}  // namespace forebay::engine
