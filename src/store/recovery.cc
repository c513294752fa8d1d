#include "store/recovery.h"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>

#include "core/log.h"
#include "store/store_state.h"

namespace forebay::store {
namespace {

// The lower bits of a heat word are the worth; a positive float's upper half needs no more.
constexpr unsigned kWorthBits = 15;
static_assert(kWorthBits + policy::kMarkBits == 32);

// Worths span many powers of two; a class is an eighth of one, around worth 1.
constexpr int kClassMiddle = 192;

// The upper half of a positive float orders like the number and keeps 7 bits of its fraction.
std::uint8_t class_of(std::uint32_t heat) {
  heat &= (1U << kWorthBits) - 1;
  if (heat == 0) return 0;
  const auto eighths = static_cast<int>(heat >> 4) - (127 << 3);
  return static_cast<std::uint8_t>(std::clamp(eighths + kClassMiddle, 1, 255));
}

}  // namespace

// Exponent and 7 bits of fraction of the worth as a float.
std::uint32_t heat_of_worth(double worth) {
  if (!(worth > 0)) return 0;
  const auto clamped = static_cast<float>(
      std::clamp(worth, static_cast<double>(std::numeric_limits<float>::min()), 1e30));
  return std::bit_cast<std::uint32_t>(clamped) >> 16;
}

std::uint32_t heat_word(double worth, std::uint32_t mark) {
  return (mark << kWorthBits) | heat_of_worth(worth);
}

void Recovery::expect(std::uint64_t record_count) {
  residency_->index().reserve(record_count);
  heat_.reserve(record_count);
}

void Recovery::take(std::span<const RecoveredRecord> batch) {
  const Index& index = residency_->index();
  for (const RecoveredRecord& record : batch) {
    index.prefetch(record.facts.id);
    index.prefetch(record.facts.parent);
  }
  for (const RecoveredRecord& record : batch) take_one(record);
}

void Recovery::take_one(const RecoveredRecord& record) {
  const RecordFacts& facts = record.facts;
  const auto space = spaces_->register_space(facts.tenant, facts.layout_fingerprint);
  if (!space || facts.data_bytes == 0 || facts.data_bytes > kBlockBytesMax) {
    ++unusable_count_;
    return;
  }
  BlockFacts block;
  block.id = facts.id;
  block.parent = facts.parent;
  block.space = *space;
  block.data_bytes = facts.data_bytes;
  block.token_count = facts.token_count;
  const Slot slot = residency_->intern(block);
  if (slot == kNoSlot) {
    ++unusable_count_;
    return;
  }
  IndexEntry& entry = residency_->index().entry(slot);
  if (entry.on_flash()) {
    replaced_.push_back({facts.id, entry.flash_page, entry.data_bytes});
    residency_->hold(slot);
    residency_->drop_flash(slot);
    entry.clear(EntryFlag::kHeld);
    entry.data_bytes = facts.data_bytes;
  }
  residency_->show_flash(slot, record.page);
  if (slot >= heat_.size()) heat_.resize(std::size_t{slot} + 1);
  heat_[slot] = facts.heat;
}

void Recovery::finish() {
  const Index& index = residency_->index();
  const auto slot_count = static_cast<Slot>(heat_.size());
  const auto is_here = [&](Slot slot) {
    return index.in_use(slot) && index.entry(slot).on_flash();
  };
  // A counting sort: coldest class first, in a class the newest (the highest slot) first.
  std::array<std::size_t, kClasses + 1> starts{};
  for (Slot slot = 0; slot < slot_count; ++slot) {
    if (is_here(slot)) ++starts[std::size_t{class_of(heat_[slot])} + 1];
  }
  for (std::size_t i = 1; i <= kClasses; ++i) starts[i] += starts[i - 1];
  std::vector<Slot> ordered(starts[kClasses]);
  for (Slot slot = slot_count; slot-- > 0;) {
    if (is_here(slot)) ordered[starts[class_of(heat_[slot])]++] = slot;
    heat_[slot] >>= kWorthBits;  // from here on the mark
  }
  // One request a class, empty ones too: the policy's time keeps the distance between them. One for
  // all where the marks say the ages.
  const bool resumed = residency_->flash_policy().resumed();
  if (resumed) residency_->begin_recovered();
  std::size_t begin = 0;
  for (std::size_t i = 0; i < kClasses; ++i) {
    const auto of_class = std::span(ordered).subspan(begin, starts[i] - begin);
    begin = starts[i];
    if (begin == 0) continue;
    if (!resumed) residency_->begin_recovered();
    residency_->list_recovered(of_class, heat_);
  }
  heat_ = {};
  if (unusable_count_ > 0) {
    log_warn("store: {} records on flash are of a size or key space that cannot be used",
             unusable_count_);
  }
}

void StoreState::on_recovery_size(std::uint64_t record_count) { recovery->expect(record_count); }

void StoreState::on_recovered_batch(std::span<const RecoveredRecord> batch) {
  recovery->take(batch);
}

void StoreState::on_recovered(const RecordFacts& facts, FlashPage page) {
  const RecoveredRecord record{.facts = facts, .page = page};
  recovery->take(std::span(&record, 1));
}

void finish_recovery(StoreState& state) {
  const auto recovery = std::exchange(state.recovery, nullptr);
  recovery->finish();
  for (const Recovery::Replaced& record : recovery->replaced()) {
    forget_behind(state, record.id, record.page, record.data_bytes, false);
  }
}

}  // namespace forebay::store
