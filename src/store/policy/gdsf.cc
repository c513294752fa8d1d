#include "store/policy/gdsf.h"

#include <algorithm>

namespace forebay::store::policy {

bool Gdsf::before(Slot a, Slot b) const {
  const State& left = state_[a];
  const State& right = state_[b];
  return left.priority != right.priority ? left.priority < right.priority
                                         : left.order < right.order;
}

void Gdsf::place(std::size_t index, Slot slot) {
  heap_[index] = slot;
  state_[slot].place = static_cast<std::uint32_t>(index);
}

void Gdsf::sift(std::size_t index) {
  const Slot slot = heap_[index];
  while (index > 0 && before(slot, heap_[(index - 1) / 2])) {
    place(index, heap_[(index - 1) / 2]);
    index = (index - 1) / 2;
  }
  while (true) {
    std::size_t child = 2 * index + 1;
    if (child >= heap_.size()) break;
    if (child + 1 < heap_.size() && before(heap_[child + 1], heap_[child])) ++child;
    if (!before(heap_[child], slot)) break;
    place(index, heap_[child]);
    index = child;
  }
  place(index, slot);
}

void Gdsf::settle(Slot slot) {
  State& state = state_[slot];
  if (state.touches < 0xffff) ++state.touches;
  state.priority = clock_ + static_cast<float>(state.touches) * state.density;
  state.order = order_++;
  sift(state.place);
}

void Gdsf::on_insert(const BlockFacts& facts) {
  if (facts.slot >= state_.size()) state_.resize(facts.slot + 1);
  State& state = state_[facts.slot];
  state = {};
  state.density = static_cast<float>(facts.recompute_ns / std::max(1U, facts.bytes));
  heap_.push_back(facts.slot);
  state.place = static_cast<std::uint32_t>(heap_.size() - 1);
  settle(facts.slot);
}

void Gdsf::on_hit(Slot slot) { settle(slot); }

void Gdsf::on_remove(Slot slot, std::uint64_t /*key*/) {
  const std::size_t index = state_[slot].place;
  if (index == 0) clock_ = std::max(clock_, state_[slot].priority);
  const Slot last = heap_.back();
  heap_.pop_back();
  if (last == slot) return;
  place(index, last);
  sift(index);
}

Slot Gdsf::victim(const ChainView& view) {
  // Near the top of the heap lie the least; a breadth-first look finds a leaf among them.
  Slot fallback = kNone;
  for (std::size_t i = 0; i < heap_.size() && (i < kLeafScanMax || fallback == kNone); ++i) {
    const Slot slot = heap_[i];
    if (view.is_held(slot)) continue;
    if (!view.has_resident_child(slot)) return slot;
    if (fallback == kNone) fallback = slot;
  }
  return fallback;
}

}  // namespace forebay::store::policy
