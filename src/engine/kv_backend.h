// What an engine sees of a cache beyond its own HBM: the side under test in an arm.
//
// Threads: one loop. Every fault is a shorter leading run, never an exception or a hang.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/task.h"
#include "store/store.h"

namespace forebay::engine {

// One KV block in the engine's (emulated) memory.
struct KvBlock {
  store::BlockId id;
  store::BlockId parent;
  std::uint64_t name = 0;  // the workload's block id: seeds the expected contents
  std::uint32_t token_count = 0;
  std::uint32_t chain_depth = 0;
  std::span<std::byte> bytes;         // exactly the block's size, 4 KiB aligned
  std::shared_ptr<const void> owner;  // keeps `bytes` alive while a device may write there
};

struct KvLookup {
  std::size_t present_blocks = 0;
  std::size_t worth_blocks = 0;  // how many of them to load; the engine recomputes the rest
};

struct KvLoad {
  std::size_t leading_blocks = 0;  // delivered, from the start, without a gap
  std::array<std::size_t, store::kTierCount> blocks_by_tier{};
  std::array<std::uint64_t, store::kTierCount> bytes_by_tier{};
  Nanos device_wait{0};
};

// One row of the storage op log.
struct KvOp {
  std::uint64_t op_id = 0;  // the request's index + 1
  bool write = false;
  store::Tier tier = store::Tier::kNone;
  std::uint64_t bytes = 0;
  std::uint32_t block_count = 0;
  Nanos start{0};
  Nanos end{0};
  std::uint32_t failed_blocks = 0;
};

class KvBackend {
 public:
  virtual ~KvBackend() = default;
  [[nodiscard]] virtual std::string_view name() const = 0;
  [[nodiscard]] virtual KvLookup lookup(std::span<const store::BlockId> chain) = 0;
  // Blocks are one chain in order; fills bytes. `blocks` must live until it ends.
  [[nodiscard]] virtual Task<KvLoad> load(std::span<KvBlock> blocks, std::uint64_t op_id,
                                          Nanos deadline) = 0;
  // Offers blocks; may refuse. The bytes may be reused when it ends.
  [[nodiscard]] virtual Task<void> save(std::span<KvBlock> blocks, std::uint64_t op_id) = 0;
  virtual void touch(std::span<const store::BlockId> chain) = 0;
  // A load of these blocks will come when it is its turn: a backend with a faster tier may bring
  // them there meanwhile.
  virtual void prefetch(std::span<const store::BlockId> chain, std::uint64_t op_id) {
    static_cast<void>(chain);
    static_cast<void>(op_id);
  }
  virtual void observe_prefill(std::uint64_t tokens, Nanos took) = 0;
  // The run was cancelled: loads and saves in flight end soon, with what they have. Only drain(),
  // close(), stats() and take_ops() may follow.
  virtual void interrupt() {}
  // Waits for everything offered to be where it will stay (between rounds).
  [[nodiscard]] virtual Task<void> drain() = 0;
  [[nodiscard]] virtual Task<void> close() = 0;
  [[nodiscard]] virtual store::StoreStats stats() const = 0;
  // Ops since the last call, bounded (OpRing: the oldest fall out and are counted).
  [[nodiscard]] virtual std::vector<KvOp> take_ops() = 0;
  // How many fell out so far.
  [[nodiscard]] virtual std::uint64_t dropped_ops() const { return 0; }
};

}  // namespace forebay::engine
