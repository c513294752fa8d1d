// Blocks that were put together stand in slots one after another: a guess that saves a search.
#pragma once

#include "store/index_bucket.h"

namespace forebay::store {

// Follows a walk over a chain and says in which slot the key some steps ahead stands if the slots
// found last, one after another, go on so.
class SlotRun {
 public:
  // kNoSlot: nothing is expected.
  [[nodiscard]] Slot expected() const { return expected_; }
  void found(Slot slot, Slot steps_ahead) {
    length_ = slot == last_ + 1 ? length_ + 1 : 0;
    last_ = slot;
    if (expected_ == kNoSlot && length_ >= kLengthMin) expected_ = slot + steps_ahead;
  }
  void advance() { ++expected_; }
  void end() {
    if (expected_ == kNoSlot) return;
    expected_ = kNoSlot;
    length_ = 0;
  }

 private:
  static constexpr unsigned kLengthMin = 4;
  Slot last_ = kNoSlot;
  Slot expected_ = kNoSlot;
  unsigned length_ = 0;
};

}  // namespace forebay::store
