#include "store/residency.h"

#include <algorithm>

#include "core/bytes.h"
#include "core/check.h"

namespace forebay::store {
namespace {

// What a token's recompute counts for in a policy's worth; only ratios between blocks matter.
constexpr double kRecomputeNsPerToken = 100'000;

}  // namespace

Residency::Residency(ResidencyParts parts)
    : spaces_(parts.spaces),
      dram_(std::move(parts.dram)),
      staging_(parts.staging),
      dram_policy_(std::move(parts.dram_policy)),
      flash_policy_(std::move(parts.flash_policy)) {}

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
  const Kind kind = spaces_->kind_of(facts.space, facts.token_count);
  const Slot slot = kind == kNoKind ? kNoSlot : index_.insert(facts.id);
  if (slot == kNoSlot) return kNoSlot;
  IndexEntry& entry = index_.entry(slot);
  if (!entry.present()) {
    entry.data_bytes = facts.data_bytes;
    entry.kind = kind;
  }
  if (facts.parent != kNoParent && index_.parent(slot) == kNoSlot) {
    const Slot parent = index_.insert(facts.parent);
    // A block that names itself as its parent has none; to release it here would free its entry.
    if (parent != kNoSlot && parent != slot) {
      index_.set_parent(slot, parent);
      index_.release(parent);  // where the link was refused, a new ghost has no use
    }
  }
  return slot;
}

void Residency::unhold(Slot slot) {
  index_.entry(slot).clear(EntryFlag::kHeld);
  index_.release(slot);
}

void Residency::show_dram(Slot slot, DramBlock block) {
  IndexEntry& entry = index_.entry(slot);
  FOREBAY_CHECK(!entry.in_dram() && !staging_);
  DramHeader& header = dram_->header(block);
  header.state = DramState::kReady;
  header.slot = slot;
  entry.dram_block = block;
  account(entry, Tier::kDram, true);
}

void Residency::drop_dram(Slot slot) {
  IndexEntry& entry = index_.entry(slot);
  FOREBAY_CHECK(entry.in_dram());
  const DramBlock block = entry.dram_block;
  DramHeader& header = dram_->header(block);
  if (header.listed) dram_policy_->on_remove(block, entry.id.low);
  if (take_ahead(block)) ++ahead_wasted_blocks_;
  header.listed = false;
  header.slot = kNoSlot;
  account(entry, Tier::kDram, false);
  entry.dram_block = kNoDramBlock;
  dram_->drop(block);
  if (!entry.present()) {
    unlist_flash(slot);
    if (index_.entry(slot).child_count() != 0) orphan_steps_left_ = dram_->block_end();
  }
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
  unlist_flash(slot);
  account(entry, Tier::kFlash, false);
  entry.flash_page = kNoFlashPage;
  if (!entry.present() && index_.entry(slot).child_count() != 0 && dram_ != nullptr) {
    orphan_steps_left_ = dram_->block_end();
  }
  index_.release(slot);
}

void Residency::unlist_flash(Slot slot) {
  IndexEntry& entry = index_.entry(slot);
  if (!entry.has(EntryFlag::kListed)) return;
  entry.clear(EntryFlag::kListed);
  flash_policy_->on_remove(slot, entry.id.low);
}

void Residency::mark_ahead(DramBlock block) {
  DramHeader& header = dram_->header(block);
  header.prefetched = true;
  ahead_bytes_ += header.data_bytes;
}

bool Residency::take_ahead(DramBlock block) {
  DramHeader& header = dram_->header(block);
  if (!header.prefetched) return false;
  header.prefetched = false;
  ahead_bytes_ -= header.data_bytes;
  return true;
}

policy::BlockFacts Residency::policy_facts(Slot slot, std::uint32_t number) const {
  const IndexEntry& entry = index_.entry(slot);
  policy::BlockFacts facts;
  facts.slot = number;
  facts.key = entry.id.low;
  facts.bytes = entry.data_bytes;
  const std::uint32_t tokens = spaces_->token_count(entry.kind);
  if (tokens > 0) facts.recompute_ns = kRecomputeNsPerToken * tokens;
  return facts;
}

void Residency::touch_chain(const policy::RequestContext& context,
                            std::span<const Slot> deepest_first) {
  if (deepest_first.empty()) return;
  dram_policy_->begin_request(context);
  flash_policy_->begin_request(context);
  for (const Slot slot : deepest_first) {
    touch_dram(slot);
    touch_flash(slot);
  }
}

void Residency::list_recovered(std::span<const Slot> deepest_first,
                               std::span<const std::uint32_t> marks) {
  constexpr std::size_t kAhead = 16;
  for (std::size_t i = 0; i < deepest_first.size(); ++i) {
    if (i + kAhead < deepest_first.size()) {
      __builtin_prefetch(&index_.entry(deepest_first[i + kAhead]));
      __builtin_prefetch(&marks[deepest_first[i + kAhead]]);
    }
    touch_flash(deepest_first[i], marks[deepest_first[i]]);
  }
}

void Residency::touch_dram(Slot slot) {
  const IndexEntry& entry = index_.entry(slot);
  if (!entry.in_dram()) return;
  DramHeader& header = dram_->header(entry.dram_block);
  if (header.listed) {
    dram_policy_->on_hit(entry.dram_block);
  } else {
    header.listed = true;
    dram_policy_->on_insert(policy_facts(slot, entry.dram_block));
  }
}

// What is on its way to flash counts as there: both policies see a request in the same order.
void Residency::touch_flash(Slot slot, std::uint32_t mark) {
  IndexEntry& entry = index_.entry(slot);
  const bool on_its_way = entry.has(EntryFlag::kHeld) ||
                          (entry.in_dram() && dram_->header(entry.dram_block).write_back);
  if (entry.has(EntryFlag::kListed)) {
    flash_policy_->on_hit(slot);
  } else if (entry.on_flash() || on_its_way) {
    entry.set(EntryFlag::kListed);
    policy::BlockFacts facts = policy_facts(slot, slot);
    facts.mark = mark;
    flash_policy_->on_insert(facts);
  }
}

std::uint64_t Residency::memory_bytes() const {
  return index_.memory_bytes() + dram_policy_->bytes_used() + flash_policy_->bytes_used();
}

}  // namespace forebay::store
