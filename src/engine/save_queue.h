// Newly computed blocks on their way to the backend: off the critical path, bounded.
//
// offer() takes over the caller's holds on the slots and never waits; what does not fit into the
// bound is given back at once and counted, from the end of the chain (a prefix is worth more). A
// few workers hand one chain each to KvBackend::save and give the slots back when it ends.
//
// Threads: one loop. Blocks: never.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "engine/engine_context.h"

namespace forebay::engine {

struct SaveItem {
  Slot slot = kNoSlot;  // one hold, passed on
  std::uint64_t name = 0;
  store::BlockId id;
  store::BlockId parent;
  std::uint32_t chain_depth = 0;
};

class SaveQueue : public std::enable_shared_from_this<SaveQueue> {
 public:
  // `on_idle_slots` is called when slots came back.
  SaveQueue(std::shared_ptr<EngineContext> context, std::function<void()> on_slots_back);
  // Blocks of one chain in order.
  void offer(std::vector<SaveItem> items, std::uint64_t op_id);
  [[nodiscard]] bool idle() const { return pending_.empty() && worker_count_ == 0; }
  // Gives up what no worker has begun; nobody is called back any more.
  void stop();

 private:
  struct Job {
    std::vector<SaveItem> items;
    std::uint64_t op_id = 0;
  };
  static Task<void> work(std::shared_ptr<SaveQueue> self);
  [[nodiscard]] std::uint64_t room_blocks() const;
  void give_back(const std::vector<SaveItem>& items);

  std::shared_ptr<EngineContext> context_;
  std::function<void()> on_slots_back_;
  std::uint64_t bytes_max_;
  std::uint64_t in_flight_bytes_ = 0;
  std::deque<Job> pending_;
  std::size_t worker_count_ = 0;
};

}  // namespace forebay::engine
