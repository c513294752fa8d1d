// Which block leaves a tier: Residency's choices, on top of the policies.
#include <algorithm>
#include <limits>

#include "core/check.h"
#include "store/residency.h"

namespace forebay::store {
namespace {

// Ancestors looked at to tell an orphan; a removal further up is noticed as its ghosts move down.
constexpr unsigned kAncestorsLookedAt = 64;
// Orphans are looked for this many blocks at a time, so that no eviction waits for a whole round.
constexpr std::uint64_t kOrphanStepsMax = 256;
// A tenant's victim is the least worthy of this many of its blocks, found in a round over all.
constexpr unsigned kTenantSample = 16;
// Makes a block with children worth a little more than a leaf that is touched as often.
constexpr double kParentFactor = 1.1;
// A block must be worth this much more than the one it would push out: a copy costs something too.
constexpr double kPromotionFactor = 1.25;

}  // namespace

// What the DRAM policy may know. A copy of what is on flash can go: no chain breaks by it.
class Residency::DramView final : public policy::ChainView {
 public:
  explicit DramView(const Residency& residency) : residency_(residency) {}
  bool has_resident_child(policy::Slot block) const override {
    const Slot slot = residency_.dram_->header(block).slot;
    return !residency_.index_.entry(slot).on_flash() &&
           residency_.index_.entry(slot).child_count() > 0;
  }
  bool is_held(policy::Slot block) const override { return !residency_.may_leave_dram(block); }

 private:
  const Residency& residency_;
};

bool Residency::may_leave_dram(DramBlock block) const {
  const DramHeader& header = dram_->header(block);
  return header.listed && !header.write_back && header.pin_count == 0;
}

bool Residency::orphaned(Slot slot) const {
  Slot ancestor = index_.parent(slot);
  for (unsigned step = 0; ancestor != kNoSlot && step < kAncestorsLookedAt; ++step) {
    const bool on_its_way = index_.entry(ancestor).has(EntryFlag::kHeld);
    if (!index_.entry(ancestor).present() && !on_its_way) return true;
    ancestor = index_.parent(ancestor);
  }
  return false;
}

double Residency::flash_worth(Slot slot) const {
  if (!index_.entry(slot).has(EntryFlag::kListed) || orphaned(slot)) return 0;
  const double worth = flash_policy_->worth(slot);
  return index_.entry(slot).child_count() > 0 ? worth * kParentFactor : worth;
}

DramBlock Residency::next_orphan() {
  const DramBlock end = dram_->block_end();
  for (std::uint64_t step = 0; step < kOrphanStepsMax && orphan_steps_left_ > 0; ++step) {
    --orphan_steps_left_;
    orphan_cursor_ = orphan_cursor_ + 1 >= end ? 0 : orphan_cursor_ + 1;
    const DramHeader& header = dram_->header(orphan_cursor_);
    if (header.state != DramState::kReady || header.slot == kNoSlot) continue;
    if (may_leave_dram(orphan_cursor_) && orphaned(header.slot)) return orphan_cursor_;
  }
  return kNoDramBlock;
}

DramBlock Residency::dram_victim() {
  if (const DramBlock orphan = next_orphan(); orphan != kNoDramBlock) return orphan;
  const policy::Slot victim = dram_policy_->victim(DramView(*this));
  return victim == policy::kNone || !may_leave_dram(victim) ? kNoDramBlock : victim;
}

DramBlock Residency::dram_victim_of(TenantId tenant) {
  DramBlock best = kNoDramBlock;
  double least = std::numeric_limits<double>::infinity();
  unsigned seen = 0;
  const DramBlock end = dram_->block_end();
  for (DramBlock step = 0; step < end && seen < kTenantSample; ++step) {
    dram_cursor_ = dram_cursor_ + 1 >= end ? 0 : dram_cursor_ + 1;
    const DramHeader& header = dram_->header(dram_cursor_);
    if (header.state != DramState::kReady || header.slot == kNoSlot) continue;
    if (spaces_->tenant_of(SpaceId{header.space}) != tenant || !may_leave_dram(dram_cursor_)) {
      continue;
    }
    ++seen;
    double worth = dram_policy_->worth(dram_cursor_);
    const IndexEntry& entry = index_.entry(header.slot);
    if (!entry.on_flash() && entry.child_count() > 0) worth *= kParentFactor;
    if (worth < least) {
      least = worth;
      best = dram_cursor_;
    }
  }
  return best;
}

Slot Residency::flash_victim_of(TenantId tenant) {
  Slot best = kNoSlot;
  double least = std::numeric_limits<double>::infinity();
  unsigned seen = 0;
  const Slot end = index_.slot_end();
  for (Slot step = 0; step < end && seen < kTenantSample; ++step) {
    flash_cursor_ = flash_cursor_ + 1 >= end ? 0 : flash_cursor_ + 1;
    const IndexEntry& entry = index_.entry(flash_cursor_);
    if (!index_.in_use(flash_cursor_) || !entry.on_flash() || tenant_of(entry) != tenant) continue;
    ++seen;
    if (const double worth = flash_worth(flash_cursor_); worth < least) {
      least = worth;
      best = flash_cursor_;
    }
  }
  return best;
}

bool Residency::deserves_dram(Slot slot) {
  const IndexEntry& entry = index_.entry(slot);
  const std::uint64_t bytes = DramTier::footprint_bytes(entry.data_bytes);
  if (!spaces_->fits(tenant_of(entry), Tier::kDram, bytes)) return false;
  if (dram_->used_bytes() + bytes <= dram_->capacity_bytes()) return true;
  const policy::Slot victim = dram_policy_->victim(DramView(*this));
  if (victim == policy::kNone) return false;
  // Only what flash has too may make way: its copy there stays, and both are in one policy.
  const Slot other = dram_->header(victim).slot;
  return index_.entry(other).on_flash() &&
         flash_worth(slot) > kPromotionFactor * flash_worth(other);
}

bool Residency::evict(DramBlock block) {
  if (block == kNoDramBlock) return false;
  count_evicted(Tier::kDram);
  drop_dram(dram_->header(block).slot);
  return true;
}

Result<DramBlock> Residency::make_room(SpaceId space, std::uint32_t data_bytes) {
  const std::uint64_t bytes = DramTier::footprint_bytes(data_bytes);
  const TenantId tenant = spaces_->tenant_of(space);
  const std::uint64_t quota = staging_ ? 0 : spaces_->quota_bytes(tenant, Tier::kDram);
  if (bytes > dram_->capacity_bytes() || (quota != 0 && bytes > quota)) {
    return fail(Errc::kNoSpace, "block is larger than the tier or quota");
  }
  while (!staging_ && !spaces_->fits(tenant, Tier::kDram, bytes)) {
    if (!evict(dram_victim_of(tenant)))
      return fail(Errc::kBusy, "all of the tenant's DRAM is used");
  }
  while (true) {
    const DramBlock block = dram_->allocate(data_bytes);
    if (block != kNoDramBlock) {
      dram_->header(block).space = space.value;
      return block;
    }
    if (!evict(dram_victim())) return fail(Errc::kBusy, "all DRAM is in use");
  }
}

}  // namespace forebay::store
