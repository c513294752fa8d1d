#include "store/walk_order.h"

namespace forebay::store {

Slot WalkOrder::next() {
  while (true) {
    while (!line_.empty()) {
      const Slot slot = line_.back();
      line_.pop_back();
      if (index_.in_use(slot) && index_.entry(slot).present()) return slot;
    }
    while (cursor_ < told_.size() && !to_be_told(cursor_)) ++cursor_;
    if (cursor_ == told_.size()) return kNoSlot;
    for (Slot slot = cursor_; slot != kNoSlot && to_be_told(slot); slot = index_.parent(slot)) {
      told_[slot] = true;
      line_.push_back(slot);
    }
  }
}

}  // namespace forebay::store
