#include "store/store_state.h"

namespace forebay::store {

LookupResult lookup_chain(StoreState& state, std::span<const BlockId> chain) {
  LookupResult result;
  WorthScan scan(state.cost.rates());
  const bool flash_gone = state.flash_gone;
  std::size_t dram_blocks = 0;
  result.present_blocks = state.index().walk(chain, [&](Slot, const IndexEntry& entry) {
    if (flash_gone && !entry.in_dram()) return false;
    dram_blocks += entry.in_dram();
    scan.add(entry.in_dram(), entry.data_bytes, entry.token_count);
    return true;
  });
  result.worth_blocks = scan.worth_blocks();
  result.blocks_by_tier[static_cast<std::size_t>(Tier::kDram)] = dram_blocks;
  result.blocks_by_tier[static_cast<std::size_t>(Tier::kFlash)] =
      result.present_blocks - dram_blocks;
  result.load_estimate = Nanos(static_cast<std::int64_t>(scan.load_ns()));
  result.recompute_estimate = Nanos(static_cast<std::int64_t>(scan.recompute_ns()));
  ++state.counters.lookups;
  state.counters.lookup_blocks += chain.size();
  state.counters.lookup_present_blocks += result.present_blocks;
  return result;
}

void touch_chain(StoreState& state, std::span<const BlockId> chain) {
  // Leaf first, so that the root ends up warmest.
  for (std::size_t i = chain.size(); i-- > 0;) {
    state.admission->see(chain[i]);
    const Slot slot = state.index().find(chain[i]);
    if (slot != kNoSlot && state.index().entry(slot).present()) state.residency->touch(slot);
  }
}

}  // namespace forebay::store
