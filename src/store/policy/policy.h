// Which block to give up: the pure interface of every eviction policy (DESIGN D7).
//
// The owner (the store, the simulator, the planner) holds the blocks and numbers them by slot; a
// policy holds at most 16 bytes a slot and what it has learned. Time is counted in requests and
// passed in; no io, no clock, no threads, no chance: the same calls give the same victims
// everywhere.
//
// Order within a request: the owner calls begin_request(), then for each block of the chain from
// the deepest to the first on_hit() or on_insert(), so that of blocks touched together the deepest
// is the oldest: leaves go first. Threads: one owner. Blocking: never. Memory: grows with the
// largest slot.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"

namespace forebay::store::policy {

using Slot = std::uint32_t;
inline constexpr Slot kNone = ~Slot{0};
inline constexpr unsigned kMarkBits = 17;

// One request for a chain.
struct RequestContext {
  std::uint32_t chain_blocks = 0;
  std::uint32_t known_blocks = 0;  // its leading run that is resident or remembered
  std::uint16_t group = 0;         // key space: models do not share what is learned
};

struct BlockFacts {
  Slot slot = kNone;
  std::uint64_t key = 0;  // well mixed word of its identity, for ghosts
  std::uint32_t bytes = 1;
  std::uint32_t chain_depth = 0;
  double recompute_ns = 1;  // what a miss costs
  std::uint32_t mark = 0;   // what mark() said of it in an earlier run; 0: nothing
};

// What the owner knows of the chains. A policy asks only while choosing a victim.
class ChainView {
 public:
  virtual ~ChainView() = default;
  [[nodiscard]] virtual bool has_resident_child(Slot slot) const = 0;
  // Not to be evicted now (pinned, on its way to flash).
  [[nodiscard]] virtual bool is_held(Slot slot) const = 0;
};

class Policy {
 public:
  virtual ~Policy() = default;
  [[nodiscard]] virtual std::string_view name() const = 0;
  // Was this block here before? Answered from ghosts; false is always allowed.
  [[nodiscard]] virtual bool remembers(std::uint64_t /*key*/) const { return false; }
  // A new request; later calls belong to it. Counts as one unit of time.
  virtual void begin_request(const RequestContext& context) = 0;
  virtual void on_insert(const BlockFacts& facts) = 0;
  virtual void on_hit(Slot slot) = 0;
  // It is gone: evicted, removed or corrupt. `key` as it was inserted, for ghosts.
  virtual void on_remove(Slot slot, std::uint64_t key) = 0;
  // The resident block of least worth that may go: a leaf where one is near. kNone: nothing may.
  [[nodiscard]] virtual Slot victim(const ChainView& view) = 0;
  // Expected saving per byte and unit of residence; comparable between slots of one policy.
  [[nodiscard]] virtual double worth(Slot slot) const = 0;
  [[nodiscard]] virtual std::size_t bytes_used() const = 0;
  // What was learned, to start warm; empty for policies that learn nothing.
  [[nodiscard]] virtual std::vector<std::byte> save() const { return {}; }
  // What is to be known of a resident block after a restart, in kMarkBits; 0: nothing. A policy
  // believes it only after restore(), without which it means nothing.
  [[nodiscard]] virtual std::uint32_t mark(Slot /*slot*/) const { return 0; }
  // It went on from what was saved, and takes blocks' ages from their marks.
  [[nodiscard]] virtual bool resumed() const { return false; }
  // Before the first block. kCorrupt, kVersion: nothing was taken over, it starts cold.
  [[nodiscard]] virtual Status restore(std::span<const std::byte> /*saved*/) { return {}; }
};

struct PolicyOptions {
  std::uint64_t capacity_blocks = 0;  // about how many will be resident: sizes queues and ghosts
};

// "lru", "s3fifo", "gdsf", "forebay"; null for another name.
[[nodiscard]] std::unique_ptr<Policy> make_policy(std::string_view name,
                                                  const PolicyOptions& options);
[[nodiscard]] std::span<const std::string_view> policy_names();

}  // namespace forebay::store::policy
