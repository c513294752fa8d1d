// Lists of slots, oldest first, over one shared array of links: 8 bytes a slot for all lists
// together.
//
// A slot stands in at most one list. Threads: one owner.
#pragma once

#include <cstdint>

#include "store/policy/policy.h"
#include "store/policy/slot_array.h"

namespace forebay::store::policy {

struct Links {
  Slot older = kNone;
  Slot newer = kNone;
};

class OrderList {
 public:
  [[nodiscard]] Slot oldest() const { return oldest_; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }

  void push_newest(SlotArray<Links>& links, Slot slot) {
    links[slot] = {newest_, kNone};
    (newest_ == kNone ? oldest_ : links[newest_].newer) = slot;
    newest_ = slot;
    ++size_;
  }
  void remove(SlotArray<Links>& links, Slot slot) {
    const Links at = links[slot];
    (at.older == kNone ? oldest_ : links[at.older].newer) = at.newer;
    (at.newer == kNone ? newest_ : links[at.newer].older) = at.older;
    --size_;
  }

 private:
  Slot oldest_ = kNone;
  Slot newest_ = kNone;
  std::size_t size_ = 0;
};

// How many old members a policy looks at for a leaf before it takes the oldest that may go.
inline constexpr std::size_t kLeafScanMax = 64;

// The oldest of `list` that is a leaf, within the scan; else the oldest that is not held; else
// kNone.
[[nodiscard]] inline Slot oldest_leaf(const OrderList& list, const SlotArray<Links>& links,
                                      const ChainView& view) {
  Slot fallback = kNone;
  Slot at = list.oldest();
  for (std::size_t step = 0; at != kNone && (step < kLeafScanMax || fallback == kNone); ++step) {
    if (!view.is_held(at)) {
      if (!view.has_resident_child(at)) return at;
      if (fallback == kNone) fallback = at;
    }
    at = links[at].newer;
  }
  return fallback;
}

}  // namespace forebay::store::policy
