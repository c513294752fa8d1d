// Every block of a store, one after another, with all that it was put with: for export.
//
// Parents come before their children, and a chain's blocks follow one another where they can.
// Nothing is changed: neither heat nor eviction hears of a walk, and a block that does not prove
// itself is told as such and stays where it is. Blocks that come, go or move to another tier while
// a walk is under way may be told or not; none is told twice.
//
// Units: bytes. Memory: one bit a block, and one batch of blocks. Threads: the store's core.
// Ownership: the store must outlive the walk; what next() returned is valid until the next call.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/task.h"
#include "store/store.h"

namespace forebay::store {

struct WalkedBlock {
  BlockId id;  // where the header is damaged: its first 16 bytes, then zeroes
  BlockId parent;
  KeySpace space;
  std::vector<std::byte> engine_key;
  std::uint32_t token_count = 0;
  std::uint32_t chain_depth = 0;
  std::uint32_t data_bytes = 0;
  std::span<const std::byte> data;  // empty when `status` is an error
  // kCorrupt: did not prove itself. kNotFound: gone meanwhile. kUnsupported: in DRAM alone, where
  // its engine key is not kept. The device's errors, kTimedOut, kCancelled.
  Status status;
};

class BlockWalk {
 public:
  static constexpr std::size_t kBatchBlocksMax = 256;

  virtual ~BlockWalk() = default;
  // The next blocks: about `bytes_max` of data and one at least; none at the end. One call at a
  // time. Of `call` counts all but the space: a walk is the operator's, not a tenant's.
  [[nodiscard]] virtual Task<std::span<const WalkedBlock>> next(std::uint64_t bytes_max,
                                                                CallOptions call) = 0;
};

}  // namespace forebay::store
