#include "engine/hbm_pool.h"

#include <utility>

#include "core/bytes.h"
#include "core/check.h"

namespace forebay::engine {
namespace {

constexpr std::uint64_t kAlignBytes = 4 * kKiB;

}  // namespace

Result<std::shared_ptr<HbmPool>> HbmPool::make(std::uint64_t pool_bytes,
                                               std::uint64_t block_bytes) {
  if (block_bytes == 0) return fail(Errc::kInvalid, "size of a KV block");
  const std::uint64_t stride_bytes = round_up(block_bytes, kAlignBytes);
  const std::uint64_t block_count = pool_bytes / stride_bytes;
  if (block_count == 0) return fail(Errc::kInvalid, "HBM for at least one KV block");
  if (block_count >= kNoSlot) return fail(Errc::kInvalid, "number of KV blocks in HBM");
  FOREBAY_TRY(memory, io::HugeMemory::map(block_count * stride_bytes));
  return std::shared_ptr<HbmPool>(
      new HbmPool(std::move(memory), block_bytes, stride_bytes, block_count));
}

HbmPool::HbmPool(io::HugeMemory memory, std::uint64_t block_bytes, std::uint64_t stride_bytes,
                 std::size_t block_count)
    : memory_(std::move(memory)),
      block_bytes_(block_bytes),
      stride_bytes_(stride_bytes),
      slots_(block_count) {
  free_.reserve(block_count);
  for (std::size_t i = block_count; i > 0; --i) free_.push_back(static_cast<Slot>(i - 1));
  index_.reserve(block_count);
}

std::span<std::byte> HbmPool::bytes(Slot slot) const {
  return memory_.bytes().subspan(slot * stride_bytes_, block_bytes_);
}

Slot HbmPool::allocate() {
  Slot slot = kNoSlot;
  if (!free_.empty()) {
    slot = free_.back();
    free_.pop_back();
  } else if (oldest_ != kNoSlot) {
    slot = oldest_;
    evict(slot);
  } else {
    return kNoSlot;
  }
  slots_[slot].holders = 1;
  return slot;
}

void HbmPool::hold(Slot slot) {
  FOREBAY_CHECK_LT(0U, slots_[slot].holders);
  ++slots_[slot].holders;
}

void HbmPool::release(Slot slot) {
  State& state = slots_[slot];
  FOREBAY_CHECK_LT(0U, state.holders);
  if (--state.holders > 0) return;
  if (state.named) {
    become_cached(slot);
  } else {
    free_.push_back(slot);
  }
}

Slot HbmPool::publish(Slot slot, std::uint64_t name, Slot parent) {
  State& state = slots_[slot];
  FOREBAY_CHECK(state.holders > 0 && !state.named);
  FOREBAY_CHECK(parent == kNoSlot || (slots_[parent].named && slots_[parent].holders > 0));
  const auto [at, inserted] = index_.try_emplace(name, slot);
  if (!inserted) {
    const Slot there = find_and_hold(name);
    release(slot);
    return there;
  }
  state.name = name;
  state.named = true;
  state.parent = parent;
  if (parent != kNoSlot) ++slots_[parent].children;
  return slot;
}

HbmPool::Match HbmPool::match(std::span<const std::uint64_t> names) const {
  Match found;
  for (const std::uint64_t name : names) {
    const auto at = index_.find(name);
    if (at == index_.end()) break;
    ++found.blocks;
    if (slots_[at->second].holders == 0) ++found.cached;
  }
  return found;
}

Slot HbmPool::find_and_hold(std::uint64_t name) {
  const auto at = index_.find(name);
  FOREBAY_CHECK(at != index_.end());
  State& state = slots_[at->second];
  if (state.holders++ == 0) {
    if (state.children == 0) list_remove(at->second);
    --cached_count_;
  }
  return at->second;
}

std::shared_ptr<const void> HbmPool::lease(Slot slot) {
  hold(slot);
  return {bytes(slot).data(),
          [pool = shared_from_this(), slot](const void*) { pool->release(slot); }};
}

void HbmPool::become_cached(Slot slot) {
  State& state = slots_[slot];
  state.last_use = ++use_clock_;
  ++cached_count_;
  if (state.children == 0) list_insert(slot, kNoSlot);
}

void HbmPool::list_insert(Slot slot, Slot before) {
  State& state = slots_[slot];
  state.next = before;
  state.previous = before == kNoSlot ? newest_ : slots_[before].previous;
  (state.previous == kNoSlot ? oldest_ : slots_[state.previous].next) = slot;
  (state.next == kNoSlot ? newest_ : slots_[state.next].previous) = slot;
}

void HbmPool::list_remove(Slot slot) {
  const State& state = slots_[slot];
  (state.previous == kNoSlot ? oldest_ : slots_[state.previous].next) = state.next;
  (state.next == kNoSlot ? newest_ : slots_[state.next].previous) = state.previous;
}

// Takes a cached leaf out. Its parent, when that made it a cached leaf, joins the list where its
// own last use puts it: near the old end, since it was used at least as late as the child just
// evicted and rarely later.
void HbmPool::evict(Slot slot) {
  State& state = slots_[slot];
  list_remove(slot);
  --cached_count_;
  ++evicted_count_;
  index_.erase(state.name);
  state.named = false;
  const Slot parent = std::exchange(state.parent, kNoSlot);
  if (parent == kNoSlot) return;
  State& above = slots_[parent];
  if (--above.children > 0 || above.holders > 0) return;
  Slot before = oldest_;
  while (before != kNoSlot && slots_[before].last_use < above.last_use) {
    before = slots_[before].next;
  }
  list_insert(parent, before);
}

}  // namespace forebay::engine
