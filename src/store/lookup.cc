#include "store/store_state.h"

namespace forebay::store {

LookupResult lookup_chain(StoreState& state, std::span<const BlockId> chain, SpaceId space) {
  LookupResult result;
  WorthScan scan(state.cost.rates());
  const bool flash_gone = state.flash_gone;
  const Spaces& spaces = state.spaces;
  std::size_t dram_blocks = 0;
  std::size_t seen = 0;
  Slot tip = kNoSlot;   // the last block worth loading
  Kind kind = kNoKind;  // of the block before: a chain has few
  std::uint32_t tokens = 0;
  result.present_blocks = state.index().walk(chain, [&](Slot slot, const IndexEntry& entry) {
    if (flash_gone && !entry.in_dram()) return false;
    if (entry.kind != kind) {
      if (!state.may_use(space, entry)) return false;
      kind = entry.kind;
      tokens = spaces.token_count(kind);
    }
    dram_blocks += entry.in_dram();
    scan.add(entry.in_dram(), entry.data_bytes, tokens);
    if (scan.worth_blocks() == ++seen) tip = slot;
    return true;
  });
  result.worth_blocks = scan.worth_blocks();
  result.blocks_by_tier[static_cast<std::size_t>(Tier::kDram)] = dram_blocks;
  result.blocks_by_tier[static_cast<std::size_t>(Tier::kFlash)] =
      result.present_blocks - dram_blocks;
  result.load_estimate = Nanos(static_cast<std::int64_t>(scan.load_ns()));
  result.recompute_estimate = Nanos(static_cast<std::int64_t>(scan.recompute_ns()));
  // Flash is there and stands back, or is gone: is it still so?
  const std::size_t first_left = flash_gone ? result.present_blocks : result.worth_blocks;
  const bool stands_back = result.worth_blocks < result.present_blocks || flash_gone;
  if (stands_back && state.flash != nullptr && first_left < chain.size()) {
    probe_flash(state, chain.subspan(first_left));
  }
  // What is not loaded will be computed, and then put.
  if (tip != kNoSlot && result.worth_blocks < chain.size()) {
    state.index().entry(tip).set(EntryFlag::kMoreExpected);
  }
  ++state.counters.lookups;
  state.counters.lookup_blocks += chain.size();
  state.counters.lookup_present_blocks += result.present_blocks;
  return result;
}

void touch_chain(StoreState& state, std::span<const BlockId> chain, SpaceId space) {
  Slot first = kNoSlot;
  Slot tip = kNoSlot;
  const std::size_t run = state.index().walk(chain, [&](Slot slot, const IndexEntry& entry) {
    if (!state.may_use(space, entry)) return false;
    if (first == kNoSlot) first = slot;
    tip = slot;
    return true;
  });
  for (const BlockId& id : chain) state.admission->see(id);
  if (run > 0) state.touches.used(state, first, tip, static_cast<std::uint32_t>(run));
}

}  // namespace forebay::store
