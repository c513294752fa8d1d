// The order in which a walk tells the blocks of an index: parents first.
//
// Slots are taken as they stand, which after a recovery is the order of the device; each is told
// after those of its ancestors that were not yet. Ghosts are passed over. Pure. Memory: one bit a
// slot, and the longest run of ancestors. The index may change between calls: slots that were not
// in use at the beginning are not told.
#pragma once

#include <vector>

#include "store/index.h"

namespace forebay::store {

class WalkOrder {
 public:
  explicit WalkOrder(const Index& index) : index_(index), told_(index.slot_end()) {}
  // A slot whose block is present, or kNoSlot at the end.
  [[nodiscard]] Slot next();

 private:
  [[nodiscard]] bool to_be_told(Slot slot) const {
    return slot < told_.size() && !told_[slot] && index_.in_use(slot);
  }

  const Index& index_;
  std::vector<bool> told_;
  std::vector<Slot> line_;  // from a block, at the front, up to its first untold ancestor
  Slot cursor_ = 0;
};

}  // namespace forebay::store
