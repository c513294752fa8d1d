// Where each block is: the only code that moves blocks in and out of tiers. It keeps index, DRAM
// tier, eviction order, tenants' usage and block counts in step.
//
// Units: bytes. Threads: one core. Blocking: never; no I/O here. A block is visible in DRAM from
// show_dram() to drop_dram(), on flash from show_flash() to drop_flash(); with neither its entry
// goes, or stays as a ghost while children or a hold need it.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "store/index.h"
#include "store/lru.h"
#include "store/spaces.h"
#include "store/store.h"
#include "store/tier/dram.h"

namespace forebay::store {

struct BlockFacts {
  BlockId id;
  BlockId parent = kNoParent;
  SpaceId space;
  std::uint32_t data_bytes = 0;
  std::uint32_t token_count = 0;
  std::uint32_t chain_depth = 0;
};

class Residency {
 public:
  // `dram` may be null. `staging`: the DRAM blocks only wait for flash and are never visible.
  Residency(Spaces* spaces, std::shared_ptr<DramTier> dram, bool staging);

  [[nodiscard]] Index& index() { return index_; }
  [[nodiscard]] const Index& index() const { return index_; }
  [[nodiscard]] const std::shared_ptr<DramTier>& shared_dram() const { return dram_; }
  [[nodiscard]] DramTier* dram() { return dram_.get(); }
  [[nodiscard]] const DramTier* dram() const { return dram_.get(); }
  [[nodiscard]] bool staging() const { return staging_; }

  // The entry of a block that is about to become visible, with its facts and parent link; kNoSlot
  // when the index is full. hold() keeps a bare entry until unhold().
  [[nodiscard]] Slot intern(const BlockFacts& facts);
  void hold(Slot slot) { index_.link(slot).flags |= IndexLink::kHeld; }
  void unhold(Slot slot);

  // Room for a block of `space`, evicting what is coldest (the tenant's own where its quota is
  // full). kNoSpace: larger than tier or quota; kBusy: all that could go is pinned or waits for
  // flash.
  [[nodiscard]] Result<DramBlock> make_room(SpaceId space, std::uint32_t data_bytes);
  // Takes back a block that never became visible.
  void give_back(DramBlock block);

  void show_dram(Slot slot, DramBlock block);
  void drop_dram(Slot slot);
  void show_flash(Slot slot, FlashPage page);
  void move_flash(Slot slot, FlashPage page) { index_.entry(slot).flash_page = page; }
  void drop_flash(Slot slot);

  // Of use: keeps it from eviction. Children before parents, so that a chain goes leaf first.
  void touch(Slot slot);

  struct TierUse {
    std::uint64_t block_count = 0;
    std::uint64_t used_bytes = 0;
    std::uint64_t inserted_blocks = 0;
    std::uint64_t evicted_blocks = 0;
  };
  [[nodiscard]] const TierUse& use(Tier tier) const { return use_[static_cast<std::size_t>(tier)]; }
  void count_evicted(Tier tier) { ++use_[static_cast<std::size_t>(tier)].evicted_blocks; }
  [[nodiscard]] std::uint64_t memory_bytes() const;
  // A record on flash: its header page and the data in whole pages.
  [[nodiscard]] static std::uint64_t flash_footprint_bytes(std::uint32_t data_bytes);

 private:
  [[nodiscard]] bool evict_one(bool only_tenant, TenantId tenant);
  [[nodiscard]] TenantId tenant_of(const IndexEntry& entry) const {
    return spaces_->tenant_of(SpaceId{entry.space});
  }
  void account(const IndexEntry& entry, Tier tier, bool add);

  Spaces* spaces_;
  std::shared_ptr<DramTier> dram_;
  bool staging_;
  Index index_;
  LruList dram_order_;
  std::array<TierUse, kTierCount> use_{};
};

}  // namespace forebay::store
