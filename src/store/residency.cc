#include "store/residency.h"

#include <algorithm>

#include "core/bytes.h"
#include "core/check.h"

namespace forebay::store {
namespace {

// How far up the cold end a victim is looked for: beyond it, all is pinned or waits for flash.
constexpr std::size_t kVictimScanMax = 4096;

}  // namespace

Residency::Residency(Spaces* spaces, std::shared_ptr<DramTier> dram, bool staging)
    : spaces_(spaces), dram_(std::move(dram)), staging_(staging) {}

std::uint64_t Residency::flash_footprint_bytes(std::uint32_t data_bytes) {
  return DramTier::kPageBytes + round_up(data_bytes, DramTier::kPageBytes);
}

void Residency::account(const IndexEntry& entry, Tier tier, bool add) {
  TierUse& use = use_[static_cast<std::size_t>(tier)];
  const std::uint64_t bytes = tier == Tier::kDram ? DramTier::footprint_bytes(entry.data_bytes)
                                                  : flash_footprint_bytes(entry.data_bytes);
  if (add) {
    ++use.block_count;
    ++use.inserted_blocks;
    use.used_bytes += bytes;
    spaces_->add(tenant_of(entry), tier, bytes);
  } else {
    --use.block_count;
    use.used_bytes -= bytes;
    spaces_->subtract(tenant_of(entry), tier, bytes);
  }
}

Slot Residency::intern(const BlockFacts& facts) {
  const Slot slot = index_.insert(facts.id);
  if (slot == kNoSlot) return kNoSlot;
  IndexEntry& entry = index_.entry(slot);
  if (!entry.present()) {
    entry.data_bytes = facts.data_bytes;
    entry.token_count =
        static_cast<std::uint16_t>(std::min<std::uint32_t>(facts.token_count, 0xffff));
    entry.space = facts.space.value;
  }
  if (facts.parent != kNoParent && index_.link(slot).parent == kNoSlot) {
    const Slot parent = index_.insert(facts.parent);
    if (parent != kNoSlot) {
      index_.set_parent(slot, parent);
      index_.release(parent);  // where the link was refused, a new ghost has no use
    }
  }
  return slot;
}

void Residency::unhold(Slot slot) {
  index_.link(slot).flags &= static_cast<std::uint8_t>(~IndexLink::kHeld);
  index_.release(slot);
}

bool Residency::evict_one(bool only_tenant, TenantId tenant) {
  std::uint32_t at = dram_order_.coldest();
  for (std::size_t step = 0; at != LruList::kNone && step < kVictimScanMax; ++step) {
    const DramHeader& header = dram_->header(at);
    const bool may_go = !header.write_back && header.pin_count == 0 &&
                        (!only_tenant || spaces_->tenant_of(SpaceId{header.space}) == tenant);
    if (may_go) {
      count_evicted(Tier::kDram);
      drop_dram(header.slot);
      return true;
    }
    at = dram_order_.warmer(at);
  }
  return false;
}

Result<DramBlock> Residency::make_room(SpaceId space, std::uint32_t data_bytes) {
  const std::uint64_t bytes = DramTier::footprint_bytes(data_bytes);
  const TenantId tenant = spaces_->tenant_of(space);
  const std::uint64_t quota = spaces_->quota_bytes(tenant, Tier::kDram);
  if (bytes > dram_->capacity_bytes() || (quota != 0 && bytes > quota)) {
    return fail(Errc::kNoSpace, "block is larger than the tier or quota");
  }
  while (!staging_ && !spaces_->fits(tenant, Tier::kDram, bytes)) {
    if (!evict_one(true, tenant)) return fail(Errc::kBusy, "all of the tenant's DRAM is in use");
  }
  while (true) {
    const DramBlock block = dram_->allocate(data_bytes);
    if (block != kNoDramBlock) {
      dram_->header(block).space = space.value;
      return block;
    }
    if (!evict_one(false, 0)) return fail(Errc::kBusy, "all DRAM is in use");
  }
}

void Residency::give_back(DramBlock block) { dram_->drop(block); }

void Residency::show_dram(Slot slot, DramBlock block) {
  IndexEntry& entry = index_.entry(slot);
  FOREBAY_CHECK(!entry.in_dram() && !staging_);
  DramHeader& header = dram_->header(block);
  header.state = DramState::kReady;
  header.slot = slot;
  entry.dram_block = block;
  account(entry, Tier::kDram, true);
  dram_order_.push_warmest(block);
}

void Residency::drop_dram(Slot slot) {
  IndexEntry& entry = index_.entry(slot);
  FOREBAY_CHECK(entry.in_dram());
  const DramBlock block = entry.dram_block;
  account(entry, Tier::kDram, false);
  entry.dram_block = kNoDramBlock;
  dram_order_.remove(block);
  dram_->header(block).slot = kNoSlot;
  dram_->drop(block);
  index_.release(slot);
}

void Residency::show_flash(Slot slot, FlashPage page) {
  IndexEntry& entry = index_.entry(slot);
  FOREBAY_CHECK(!entry.on_flash());
  entry.flash_page = page;
  account(entry, Tier::kFlash, true);
}

void Residency::drop_flash(Slot slot) {
  IndexEntry& entry = index_.entry(slot);
  FOREBAY_CHECK(entry.on_flash());
  account(entry, Tier::kFlash, false);
  entry.flash_page = kNoFlashPage;
  index_.release(slot);
}

void Residency::touch(Slot slot) {
  const IndexEntry& entry = index_.entry(slot);
  if (!entry.in_dram()) return;
  dram_order_.remove(entry.dram_block);
  dram_order_.push_warmest(entry.dram_block);
}

std::uint64_t Residency::memory_bytes() const {
  return index_.memory_bytes() + dram_order_.memory_bytes();
}

}  // namespace forebay::store
