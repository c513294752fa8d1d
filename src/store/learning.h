// What the eviction policies learned, over restarts: read at open before anything is listed,
// written at close and every kEvery of use, behind the demand path.
//
// It is worth little against blocks: whatever is wrong with it is a cold start, said in the log,
// and no call fails for it. Threads: one core. Memory: the saved states, while they are written.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "core/clock.h"
#include "core/task.h"
#include "store/signal.h"

namespace forebay::store {

struct StoreState;

class Learning {
 public:
  // A crash costs what was learned since; a device of any size gets less than a third of its size
  // written in a day.
  static constexpr Nanos kEvery = std::chrono::minutes(10);
  // How long a device may take over one writing.
  static constexpr Nanos kWithin = std::chrono::seconds(10);

  explicit Learning(io::Loop& loop) : done_(loop), written_at_(loop.now()) {}

  // `bytes` as they were kept. Before the first block of the store.
  void restore(StoreState& state, std::span<const std::byte> bytes);
  // The policies were told of a request: writes in the background when it is time.
  void note_request(StoreState& state);
  // Writes what was learned since the last time, after a writing under way.
  [[nodiscard]] Task<void> finish(std::shared_ptr<StoreState> state);

  struct Counts {
    std::uint64_t writes = 0;
    std::uint64_t too_large = 0;  // writings that left out a model, for want of room
    std::uint64_t restored_models = 0;
  };
  [[nodiscard]] const Counts& counts() const { return counts_; }

 private:
  [[nodiscard]] static Task<void> write(std::shared_ptr<StoreState> state);
  [[nodiscard]] Task<Status> write_now(StoreState& state);

  Counts counts_;
  Signal done_;
  Nanos written_at_;
  bool learned_ = false;  // anything since
  bool writing_ = false;
  bool said_too_large_ = false;
};

}  // namespace forebay::store
