#include "store/tier/flash_segments.h"

#include <algorithm>
#include <utility>

#include "core/check.h"

namespace forebay::store {

const char* to_string(SegmentState state) {
  switch (state) {
    case SegmentState::kFree:
      return "free";
    case SegmentState::kOpen:
      return "open";
    case SegmentState::kFull:
      return "full";
    case SegmentState::kSealed:
      return "sealed";
    case SegmentState::kReclaiming:
      return "reclaiming";
    case SegmentState::kEmptied:
      return "emptied";
    case SegmentState::kRetired:
      return "retired";
  }
  return "?";
}

SegmentTable::SegmentTable(const FlashLayout& layout, std::uint64_t seed)
    : layout_(layout),
      segments_(layout.segment_count),
      free_count_(layout.segment_count),
      rng_(seed) {}

std::uint64_t SegmentTable::oldest_sequence() const {
  std::uint64_t oldest = next_sequence_;
  for (const Segment& segment : segments_) {
    if (segment.state != SegmentState::kFree) oldest = std::min(oldest, segment.sequence);
  }
  return oldest;
}

std::optional<std::uint32_t> SegmentTable::open_next() {
  FOREBAY_CHECK(!open_);
  std::optional<std::uint32_t> best;
  for (std::uint32_t i = 0; i < count(); ++i) {
    const Segment& segment = segments_[i];
    if (segment.state != SegmentState::kFree || segment.pins > 0) continue;
    if (!best || segment.sequence < segments_[*best].sequence) best = i;
  }
  if (!best) return std::nullopt;
  Segment& segment = segments_[*best];
  set_state(*best, SegmentState::kOpen);
  segment.header = HeaderState::kPending;
  segment.sequence = next_sequence_++;
  segment.end_page = 1;
  segment.proven_page = 1;
  segment.sealing = false;
  segment.pending = 0;
  segment.counts = {};
  segment.records = std::make_unique<SegmentRecords>();
  segment.samples_seen = 0;
  open_ = best;
  return best;
}

void SegmentTable::close_open() {
  FOREBAY_CHECK(open_.has_value());
  set_state(*open_, SegmentState::kFull);
  open_.reset();
}

void SegmentTable::set_state(std::uint32_t index, SegmentState state) {
  Segment& segment = segments_[index];
  if (segment.state == state) return;
  if (segment.state == SegmentState::kFree) --free_count_;
  if (state == SegmentState::kFree) ++free_count_;
  segment.state = state;
}

void SegmentTable::add_live(FlashPage page, std::uint64_t data_bytes, const BlockId& id) {
  Segment& segment = segments_[layout_.segment_of(page)];
  const std::uint32_t pages = layout_.record_pages(data_bytes);
  segment.live_pages += pages;
  live_pages_ += pages;
  // Reservoir sampling: each record of the segment is equally likely to be among the samples.
  std::size_t at = segment.samples_seen++;
  if (at >= Segment::kSamplesMax) at = rng_.below(segment.samples_seen);
  if (at < Segment::kSamplesMax) segment.samples[at] = {id, page, pages};
}

void SegmentTable::drop_live(FlashPage page, std::uint64_t data_bytes) {
  Segment& segment = segments_[layout_.segment_of(page)];
  const std::uint32_t pages = std::min(layout_.record_pages(data_bytes), segment.live_pages);
  segment.live_pages -= pages;
  live_pages_ -= pages;
}

void SegmentTable::clear_live(std::uint32_t index) {
  live_pages_ -= std::exchange(segments_[index].live_pages, 0U);
}

void SegmentTable::unpin(std::uint32_t index) {
  Segment& segment = segments_[index];
  FOREBAY_CHECK(segment.pins > 0);
  if (--segment.pins == 0 && segment.state == SegmentState::kEmptied && on_unpinned_) {
    on_unpinned_();
  }
}

}  // namespace forebay::store
