#include "store/touch_log.h"

#include <algorithm>
#include <vector>

#include "store/store_state.h"

namespace forebay::store {
namespace {

void climb(const Index& index, Slot from, std::uint32_t block_count, std::vector<Slot>& slots) {
  for (Slot at = from; at != kNoSlot && block_count > 0; --block_count) {
    slots.push_back(at);
    at = index.parent(at);
  }
}

// A block that only DRAM has may have become worth writing to flash by being used again.
void reconsider(StoreState& state, std::span<const Slot> slots) {
  if (state.flash == nullptr || state.residency->staging() || !state.flash_takes_writes()) return;
  for (const Slot slot : slots) {
    const IndexEntry& entry = state.index().entry(slot);
    if (entry.on_flash() || !entry.in_dram()) continue;
    const DramHeader& header = state.residency->dram()->header(entry.dram_block);
    if (header.write_back || !state.write_back.has_room(entry.data_bytes)) continue;
    if (state.admission->admits(header.id)) state.write_back.push(state, entry.dram_block);
  }
}

void tell(StoreState& state, const policy::RequestContext& context, std::span<const Slot> slots) {
  reconsider(state, slots);
  state.residency->touch_chain(context, slots);
  state.learning.note_request(state);
}

policy::RequestContext context_of(const StoreState& state, Slot any, std::size_t chain_blocks,
                                  std::size_t known_blocks) {
  policy::RequestContext context;
  context.chain_blocks = static_cast<std::uint32_t>(chain_blocks);
  context.known_blocks = static_cast<std::uint32_t>(known_blocks);
  context.group = state.spaces.space_of(state.residency->index().entry(any).kind).value;
  return context;
}

}  // namespace

std::uint32_t TouchLog::take(const ShortId& tip) {
  const auto found = std::ranges::find(waiting_, tip, &Run::tip);
  if (found == waiting_.end()) return 0;
  const std::uint32_t block_count = found->block_count;
  waiting_.erase(found);
  return block_count;
}

void TouchLog::tell_oldest(StoreState& state) {
  const Run run = waiting_.front();
  waiting_.pop_front();
  const Slot tip = state.index().find(run.tip);
  if (tip == kNoSlot) return;
  std::vector<Slot> slots;
  climb(state.index(), tip, run.block_count, slots);
  tell(state, context_of(state, tip, slots.size(), slots.size()), slots);
}

void TouchLog::used(StoreState& state, Slot first, Slot tip, std::uint32_t block_count) {
  Index& index = state.index();
  const Slot before = index.parent(first);
  if (before != kNoSlot) block_count += take(index.entry(before).id);
  const bool more_expected = index.entry(tip).has(EntryFlag::kMoreExpected);
  index.entry(tip).clear(EntryFlag::kMoreExpected);
  waiting_.push_back({index.entry(tip).id, block_count, state.now()});
  if (!more_expected) {
    std::rotate(waiting_.begin(), std::prev(waiting_.end()), waiting_.end());
    tell_oldest(state);
  }
  while (waiting_.size() > kChainsMax ||
         (!waiting_.empty() && state.now() - waiting_.front().since > kWaitMax)) {
    tell_oldest(state);
  }
}

void TouchLog::stored(StoreState& state, Slot parent, std::span<const Slot> slots,
                      std::uint32_t depth) {
  if (slots.empty()) return;
  const Index& index = state.index();
  const std::uint32_t before = parent == kNoSlot ? 0 : take(index.entry(parent).id);
  const bool known = before > 0 || (parent != kNoSlot && index.entry(parent).present());
  const std::size_t known_blocks = known ? std::max(before, depth) : 0;
  std::vector<Slot> deepest_first(slots.rbegin(), slots.rend());
  climb(index, parent, before, deepest_first);
  const std::size_t chain_blocks = std::max<std::size_t>(before, depth) + slots.size();
  tell(state, context_of(state, slots.front(), chain_blocks, known_blocks), deepest_first);
}

void TouchLog::settle(StoreState& state) {
  while (!waiting_.empty()) tell_oldest(state);
}

}  // namespace forebay::store
