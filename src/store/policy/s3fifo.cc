#include "store/policy/s3fifo.h"

namespace forebay::store::policy {

void S3Fifo::on_insert(const BlockFacts& facts) {
  if (facts.slot >= links_.size()) {
    links_.resize(facts.slot + 1);
    state_.resize(facts.slot + 1);
  }
  const Ghost* ghost = ghosts_.find(facts.key);
  const bool known = ghost != nullptr && ghosts_made_ - ghost->request < ghost_blocks_;
  state_[facts.slot] = {.touches = 0, .in_main = known};
  if (ghost != nullptr) ghosts_.forget(facts.key);
  (known ? main_ : small_).push_newest(links_, facts.slot);
}

void S3Fifo::on_remove(Slot slot, std::uint64_t key) {
  State& state = state_[slot];
  (state.in_main ? main_ : small_).remove(links_, slot);
  // Only what never left probation is remembered, as in the paper.
  if (!state.in_main) ghosts_.put({.key = key, .request = ++ghosts_made_});
}

void S3Fifo::move_to_main(Slot slot) {
  small_.remove(links_, slot);
  main_.push_newest(links_, slot);
  state_[slot].in_main = true;
  state_[slot].touches = 0;
}

Slot S3Fifo::victim_of_small(const ChainView& view) {
  // Each step moves one block out of probation, so the loop ends.
  while (!small_.empty()) {
    const Slot slot = oldest_leaf(small_, links_, view);
    if (slot == kNone || state_[slot].touches == 0) return slot;
    move_to_main(slot);
  }
  return kNone;
}

Slot S3Fifo::victim_of_main(const ChainView& view) {
  // Each step takes a touch away from a block, so the loop ends.
  while (!main_.empty()) {
    const Slot slot = oldest_leaf(main_, links_, view);
    if (slot == kNone || state_[slot].touches == 0) return slot;
    --state_[slot].touches;
    main_.remove(links_, slot);
    main_.push_newest(links_, slot);
  }
  return kNone;
}

Slot S3Fifo::victim(const ChainView& view) {
  const bool from_small = small_.size() > small_blocks_ || main_.empty();
  const Slot first = from_small ? victim_of_small(view) : victim_of_main(view);
  if (first != kNone) return first;
  return from_small ? victim_of_main(view) : victim_of_small(view);
}

}  // namespace forebay::store::policy
