// The store as the flash tier's owner: what was recovered, what is still wanted, what it is worth.
#include "store/store_state.h"

namespace forebay::store {

Slot StoreState::slot_at(const BlockId& id, FlashPage page) {
  const Slot slot = index().find(id);
  if (slot == kNoSlot || index().entry(slot).flash_page != page) return kNoSlot;
  return slot;
}

void StoreState::on_recovered(const RecordFacts& facts, FlashPage page) {
  const auto space_id = spaces.register_space(facts.tenant, facts.layout_fingerprint);
  if (!space_id || facts.data_bytes == 0 || facts.data_bytes > kBlockBytesMax) return;
  BlockFacts block;
  block.id = facts.id;
  block.parent = facts.parent;
  block.space = *space_id;
  block.data_bytes = facts.data_bytes;
  block.token_count = facts.token_count;
  const Slot slot = residency->intern(block);
  if (slot == kNoSlot) return;
  if (const IndexEntry known = index().entry(slot); known.on_flash()) {
    replaced_records.push_back({facts.id, known.flash_page, known.data_bytes});
    residency->hold(slot);
    residency->drop_flash(slot);
    index().link(slot).flags = 0;
    index().entry(slot).data_bytes = facts.data_bytes;
  }
  residency->show_flash(slot, page);
}

bool StoreState::is_live(const BlockId& id, FlashPage page) { return slot_at(id, page) != kNoSlot; }

double StoreState::worth(const BlockId& id, FlashPage page) {
  const Slot slot = slot_at(id, page);
  return slot == kNoSlot ? 0 : residency->flash_worth(slot);
}

void StoreState::on_moved(const BlockId& id, FlashPage from, FlashPage to) {
  if (const Slot slot = slot_at(id, from); slot != kNoSlot) residency->move_flash(slot, to);
}

void StoreState::on_dropped(const BlockId& id, FlashPage page) {
  const Slot slot = slot_at(id, page);
  if (slot == kNoSlot) return;
  residency->count_evicted(Tier::kFlash);
  residency->drop_flash(slot);
}

std::uint32_t StoreState::heat_of(const BlockId&, FlashPage) { return 0; }

}  // namespace forebay::store
