// The store as the flash tier's owner: what is still wanted, what it is worth, where it went.
#include "store/recovery.h"
#include "store/store_state.h"

namespace forebay::store {

Slot StoreState::slot_at(const BlockId& id, FlashPage page) {
  const Slot slot = index().find(id);
  if (slot == kNoSlot || index().entry(slot).flash_page != page) return kNoSlot;
  return slot;
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

std::uint32_t StoreState::heat_of(const BlockId& id, FlashPage page) {
  const Slot slot = slot_at(id, page);
  return slot == kNoSlot ? 0 : heat_word(residency->flash_worth(slot), residency->flash_mark(slot));
}

}  // namespace forebay::store
