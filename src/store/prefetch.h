// Loads from flash into DRAM ahead of need: a chain that will be asked for soon, or blocks that are
// used often enough to live in DRAM.
//
// Ahead-of-need loads hold a window of bytes, in flight and loaded but not asked for; it opens as
// get() takes them. A block asked for in time is a hit, one still in flight is late, one that
// nobody came for (cancelled, deadline, dropped) is wasted and leaves DRAM. Its copy on flash
// stays, so DRAM gives it up without loss.
//
// Units: bytes. Threads: one core. Bounded by the window and kJobsMax chains.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/task.h"
#include "store/signal.h"
#include "store/store.h"
#include "store/tier/dram.h"

namespace forebay::store {

struct StoreState;

class Prefetcher {
 public:
  static constexpr std::uint64_t kGroupBytes = 2ULL << 20;
  static constexpr std::size_t kJobsMax = 64;
  // Nobody came for it by then.
  static constexpr Nanos kWaitMax{30'000'000'000};

  Prefetcher(io::Loop& loop, std::uint64_t window_bytes_max)
      : changed_(loop), window_bytes_max_(window_bytes_max) {}

  // `call.cancel` must live until it was cancelled or the prefetch ended.
  void start(StoreState& state, std::span<const BlockId> chain, const CallOptions& call);
  // Blocks of worth, read again behind the demand path; stays in DRAM like any other.
  void promote(StoreState& state, std::vector<BlockId> ids, SpaceId space);
  // Fires when a load ended or a block that was loaded ahead was taken or dropped.
  [[nodiscard]] Signal& changed() { return changed_; }
  [[nodiscard]] std::uint64_t in_flight_bytes() const { return in_flight_bytes_; }

 private:
  struct Job;
  struct Load;
  static Task<void> run(std::shared_ptr<StoreState> state, std::shared_ptr<Job> job);
  static Task<void> load_group(std::shared_ptr<StoreState> state, std::shared_ptr<Job> job,
                               std::vector<Load> loads);
  static void settle(StoreState& state, Job& job, Load& load, const Status& status);
  static void leave(StoreState& state, Job& job);
  // The next blocks of the job that are to be loaded, places taken; empty: none now.
  [[nodiscard]] static std::vector<Load> next_group(StoreState& state, Job& job);
  [[nodiscard]] bool window_is_open(const StoreState& state, std::uint64_t bytes) const;

  Signal changed_;
  std::uint64_t window_bytes_max_;
  std::uint64_t in_flight_bytes_ = 0;
  std::size_t job_count_ = 0;
};

}  // namespace forebay::store
