// Where each block is: the only code that moves blocks in and out of tiers. It keeps index, DRAM
// tier, both tiers' policies, tenants' usage and block counts in step.
//
// Units: bytes. Threads: one core. Blocking: never; no I/O here. A block is visible in DRAM from
// show_dram() to drop_dram(), on flash from show_flash() to drop_flash(); with neither its entry
// goes, or stays as a ghost while children or a hold need it.
//
// A block may be chosen as a victim only once touch_chain() has listed it in its tier's policy:
// what one put brings does not push itself out.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>

#include "store/index.h"
#include "store/policy/policy.h"
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
};

struct ResidencyParts {
  Spaces* spaces = nullptr;
  std::shared_ptr<DramTier> dram;
  bool staging = false;  // the DRAM blocks only wait for flash and are never visible
  std::unique_ptr<policy::Policy> dram_policy;
  std::unique_ptr<policy::Policy> flash_policy;
};

class Residency {
 public:
  explicit Residency(ResidencyParts parts);

  [[nodiscard]] Index& index() { return index_; }
  [[nodiscard]] const Index& index() const { return index_; }
  [[nodiscard]] const std::shared_ptr<DramTier>& shared_dram() const { return dram_; }
  [[nodiscard]] DramTier* dram() { return dram_.get(); }
  [[nodiscard]] const DramTier* dram() const { return dram_.get(); }
  [[nodiscard]] bool staging() const { return staging_; }

  // The entry of a block that is about to become visible, with its facts and parent link; kNoSlot
  // when the index is full or there are too many kinds of blocks. hold() keeps a bare entry until
  // unhold().
  [[nodiscard]] Slot intern(const BlockFacts& facts);
  void hold(Slot slot) { index_.entry(slot).set(EntryFlag::kHeld); }
  void unhold(Slot slot);

  // Room for a block of `space`, evicting what is worth least (the tenant's own where its quota is
  // full). kNoSpace: larger than tier or quota; kBusy: all that could go is pinned, waits for
  // flash, or is of the call in progress.
  [[nodiscard]] Result<DramBlock> make_room(SpaceId space, std::uint32_t data_bytes);
  // Takes back a block that never became visible.
  void give_back(DramBlock block) { dram_->drop(block); }

  void show_dram(Slot slot, DramBlock block);
  void drop_dram(Slot slot);
  void show_flash(Slot slot, FlashPage page);
  void move_flash(Slot slot, FlashPage page) { index_.entry(slot).flash_page = page; }
  void drop_flash(Slot slot);
  // It was listed for flash and will not get there.
  void unlist_flash(Slot slot);

  // Loaded ahead of need and not asked for yet: held in DRAM, counted in ahead_bytes().
  void mark_ahead(DramBlock block);
  // It was asked for: true the first time.
  bool take_ahead(DramBlock block);
  [[nodiscard]] std::uint64_t ahead_bytes() const { return ahead_bytes_; }
  [[nodiscard]] std::uint64_t ahead_wasted_blocks() const { return ahead_wasted_blocks_; }

  // One request used these blocks, given from the deepest to the first, so that a chain goes leaf
  // first. Lists those that are new.
  void touch_chain(const policy::RequestContext& context, std::span<const Slot> deepest_first);
  // At open: lists what was found on flash, from the deepest to the first, with the policy's marks
  // by slot. begin_recovered() lets the policy's time go on between two groups of them.
  void begin_recovered() { flash_policy_->begin_request({}); }
  void list_recovered(std::span<const Slot> deepest_first, std::span<const std::uint32_t> marks);
  // Makes a block that came to DRAM without a request a candidate for eviction.
  void list_dram(Slot slot) { touch_dram(slot); }
  // Would this block, on flash now, serve better in DRAM than what would have to go?
  [[nodiscard]] bool deserves_dram(Slot slot);
  // Of the tenant's blocks on flash, one of little worth, a leaf where one is near; kNoSlot: none.
  [[nodiscard]] Slot flash_victim_of(TenantId tenant);
  // What keeping it on flash is worth: nothing without its ancestors.
  [[nodiscard]] double flash_worth(Slot slot) const;
  [[nodiscard]] std::uint32_t flash_mark(Slot slot) const {
    return index_.entry(slot).has(EntryFlag::kListed) ? flash_policy_->mark(slot) : 0;
  }
  [[nodiscard]] policy::Policy& dram_policy() { return *dram_policy_; }
  [[nodiscard]] policy::Policy& flash_policy() { return *flash_policy_; }

  struct TierUse {
    std::uint64_t block_count = 0;
    std::uint64_t used_bytes = 0;
    std::uint64_t inserted_blocks = 0;
    std::uint64_t evicted_blocks = 0;
  };
  [[nodiscard]] const TierUse& use(Tier tier) const { return use_[static_cast<std::size_t>(tier)]; }
  void count_evicted(Tier tier) { ++use_[static_cast<std::size_t>(tier)].evicted_blocks; }
  // Index and policies.
  [[nodiscard]] std::uint64_t memory_bytes() const;
  // A record on flash: its header page and the data in whole pages.
  [[nodiscard]] static std::uint64_t flash_footprint_bytes(std::uint32_t data_bytes);

 private:
  class DramView;
  [[nodiscard]] TenantId tenant_of(const IndexEntry& entry) const {
    return spaces_->tenant_of(entry.kind);
  }
  void account(const IndexEntry& entry, Tier tier, bool add);
  void touch_dram(Slot slot);
  void touch_flash(Slot slot, std::uint32_t mark = 0);
  [[nodiscard]] policy::BlockFacts policy_facts(Slot slot, std::uint32_t number) const;
  // An ancestor is gone: no lookup reaches it.
  [[nodiscard]] bool orphaned(Slot slot) const;
  [[nodiscard]] bool may_leave_dram(DramBlock block) const;
  // Next victims, in the order they are tried; kNoDramBlock: none of that kind.
  [[nodiscard]] DramBlock next_orphan();
  [[nodiscard]] DramBlock dram_victim_of(TenantId tenant);
  [[nodiscard]] DramBlock dram_victim();
  [[nodiscard]] bool evict(DramBlock block);

  Spaces* spaces_;
  std::shared_ptr<DramTier> dram_;
  bool staging_;
  std::unique_ptr<policy::Policy> dram_policy_;
  std::unique_ptr<policy::Policy> flash_policy_;
  Index index_;
  std::array<TierUse, kTierCount> use_{};
  std::uint64_t ahead_bytes_ = 0;
  std::uint64_t ahead_wasted_blocks_ = 0;
  // Where the rounds over all blocks go on: for orphans (while there may be some), for a tenant.
  DramBlock orphan_cursor_ = 0;
  std::uint64_t orphan_steps_left_ = 0;
  DramBlock dram_cursor_ = 0;
  Slot flash_cursor_ = 0;
};

}  // namespace forebay::store
