// The emulated HBM: a bounded pool of KV blocks with its own prefix cache, as engines have it.
//
// A slot is free, in use (one or more holders) or cached (no holder, but its contents have a name
// and may be found again). Eviction takes the least recently used cached leaf: a block with cached
// children stays, so no cached block ever loses the prefix that makes it worth something.
//
//   free --allocate--> in use --publish--> in use, named --release--> cached --allocate-->
//   (evicted)
//                                                ^----find_and_hold----'
//
// A lease keeps a slot from being used again while a device may still write into it, also after the
// request that wanted it has gone. Leases keep the pool alive.
// Units: slots (block_count of them, each block_bytes, 4 KiB aligned). Threads: one loop.
// Never blocks, never allocates memory on the heap after construction but for leases and the index.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "core/error.h"
#include "io/huge_memory.h"

namespace forebay::engine {

using Slot = std::uint32_t;
inline constexpr Slot kNoSlot = ~Slot{0};

class HbmPool : public std::enable_shared_from_this<HbmPool> {
 public:
  // As many blocks as fit into pool_bytes. kInvalid: not even one; kNoSpace: no memory.
  [[nodiscard]] static Result<std::shared_ptr<HbmPool>> make(std::uint64_t pool_bytes,
                                                             std::uint64_t block_bytes);
  HbmPool(const HbmPool&) = delete;
  HbmPool& operator=(const HbmPool&) = delete;

  [[nodiscard]] std::size_t block_count() const { return slots_.size(); }
  // Free or cached; allocate() may still fail when a cached block waits for a child in use.
  [[nodiscard]] std::size_t available_count() const { return free_.size() + cached_count_; }
  [[nodiscard]] std::size_t cached_count() const { return cached_count_; }
  [[nodiscard]] std::uint64_t evicted_count() const { return evicted_count_; }
  [[nodiscard]] std::span<std::byte> bytes(Slot slot) const;

  // A slot held once by the caller, unnamed; evicts the least recently used leaf when none is free.
  // kNoSlot when every slot is in use.
  [[nodiscard]] Slot allocate();
  [[nodiscard]] std::uint32_t holders(Slot slot) const { return slots_[slot].holders; }
  // One holder more, of a slot in use.
  void hold(Slot slot);
  // One holder less; the last one leaves a named slot cached, an unnamed one free. Give a chain
  // back from its last block to its first, so that its end counts as the least recently used.
  void release(Slot slot);

  // Gives the contents of a held slot their name; `parent` is the named slot of the block before it
  // (kNoSlot: it is the first), held by the caller. When another slot already has that name, the
  // caller's hold moves there and its own slot is given back: the slot returned is the one held.
  [[nodiscard]] Slot publish(Slot slot, std::uint64_t name, Slot parent);
  // How many of the leading names are here, and how many of those slots nobody holds at present.
  struct Match {
    std::size_t blocks = 0;
    std::size_t cached = 0;  // holding them takes these from available_count()
  };
  [[nodiscard]] Match match(std::span<const std::uint64_t> names) const;
  // The slot of a name that match() found, now held once more by the caller.
  [[nodiscard]] Slot find_and_hold(std::uint64_t name);

  // A holder in the form that backends understand: releases the slot when the last copy goes.
  [[nodiscard]] std::shared_ptr<const void> lease(Slot slot);

 private:
  struct State {
    std::uint64_t name = 0;
    std::uint64_t last_use = 0;  // when the last holder went
    std::uint32_t holders = 0;
    std::uint32_t children = 0;  // named slots whose parent this is
    bool named = false;
    Slot parent = kNoSlot;
    Slot previous = kNoSlot;  // in the list of cached leaves, by last use
    Slot next = kNoSlot;
  };
  HbmPool(io::HugeMemory memory, std::uint64_t block_bytes, std::uint64_t stride_bytes,
          std::size_t block_count);
  void become_cached(Slot slot);
  void list_insert(Slot slot, Slot before);
  void list_remove(Slot slot);
  void evict(Slot slot);

  io::HugeMemory memory_;
  std::uint64_t block_bytes_;
  std::uint64_t stride_bytes_;
  std::vector<State> slots_;
  std::vector<Slot> free_;
  Slot oldest_ = kNoSlot;
  Slot newest_ = kNoSlot;
  std::uint64_t use_clock_ = 0;
  std::size_t cached_count_ = 0;
  std::uint64_t evicted_count_ = 0;
  std::unordered_map<std::uint64_t, Slot> index_;
};

}  // namespace forebay::engine
