// The segments of a flash tier in memory: their state, what lives in them, and who still reads
// them.
//
//   free -> open -> full -> sealed -> reclaiming -> emptied -> free
//            one      records await    being       waits for readers,
//          at a time  their fate       emptied     then for its free mark
//   Any state but free may become `retired`: its summary cannot be read, its space is not used.
//
// Units: pages. Pure but for the callback; one owner.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "core/rng.h"
#include "store/tier/flash_layout.h"
#include "store/tier/flash_records.h"
#include "store/tier/flash_summary.h"

namespace forebay::store {

enum class SegmentState : std::uint8_t {
  kFree,
  kOpen,
  kFull,
  kSealed,
  kReclaiming,
  kEmptied,
  kRetired,
};
[[nodiscard]] const char* to_string(SegmentState state);

// Whether the segment's own header page is on the device: without it a scan would not believe the
// records, so none is acknowledged before.
enum class HeaderState : std::uint8_t { kPending, kWritten, kFailed };

struct Segment {
  // A few records picked at random say what the whole segment is worth.
  struct Sample {
    BlockId id;
    FlashPage page = kNoFlashPage;
    std::uint32_t pages = 0;
  };
  static constexpr std::size_t kSamplesMax = 16;

  SegmentState state = SegmentState::kFree;
  HeaderState header = HeaderState::kWritten;
  std::uint64_t sequence = 0;
  bool sealing = false;
  std::uint32_t end_page = 1;     // within the segment: the next record goes here
  std::uint32_t proven_page = 1;  // within the segment: where the last good record ends
  std::uint32_t live_pages = 0;   // of records not known to be dropped
  std::uint32_t pins = 0;         // reads and writes in flight: it is not reused before they ended
  std::uint32_t claims = 0;       // good records whose appender has not been told yet
  std::uint32_t pending = 0;      // records whose fate is open
  SummaryCounts counts;           // once sealed
  std::uint32_t body_page = 0;    // once sealed
  std::unique_ptr<SegmentRecords> records;  // until sealed
  std::uint32_t samples_seen = 0;
  std::array<Sample, kSamplesMax> samples;

  [[nodiscard]] std::span<const Sample> sampled() const {
    return {samples.data(), std::min<std::size_t>(samples_seen, kSamplesMax)};
  }
};

class SegmentTable {
 public:
  SegmentTable(const FlashLayout& layout, std::uint64_t seed);

  [[nodiscard]] Segment& at(std::uint32_t index) { return segments_[index]; }
  [[nodiscard]] const Segment& at(std::uint32_t index) const { return segments_[index]; }
  [[nodiscard]] std::uint32_t count() const { return static_cast<std::uint32_t>(segments_.size()); }
  [[nodiscard]] std::uint32_t free_count() const { return free_count_; }
  [[nodiscard]] std::uint64_t live_pages() const { return live_pages_; }
  [[nodiscard]] std::uint64_t next_sequence() const { return next_sequence_; }
  void raise_sequence(std::uint64_t floor) {
    if (floor > next_sequence_) next_sequence_ = floor;
  }
  [[nodiscard]] std::optional<std::uint32_t> open_index() const { return open_; }
  // The lowest sequence of a segment that holds records; next_sequence() when none does.
  [[nodiscard]] std::uint64_t oldest_sequence() const;

  // Opens the free segment that has been free the longest; none when there is none.
  [[nodiscard]] std::optional<std::uint32_t> open_next();
  // The open segment takes no more records.
  void close_open();
  // Makes the recovered segment the open one.
  void adopt_open(std::uint32_t index) { open_ = index; }
  void set_state(std::uint32_t index, SegmentState state);

  void add_live(FlashPage page, std::uint64_t data_bytes, const BlockId& id);
  void drop_live(FlashPage page, std::uint64_t data_bytes);
  void clear_live(std::uint32_t index);

  void pin(std::uint32_t index) { ++segments_[index].pins; }
  void unpin(std::uint32_t index);
  // Called when a segment that is being emptied lost its last pin.
  void on_unpinned(std::function<void()> callback) { on_unpinned_ = std::move(callback); }

 private:
  const FlashLayout& layout_;
  std::vector<Segment> segments_;
  std::uint32_t free_count_ = 0;
  std::uint64_t live_pages_ = 0;
  std::uint64_t next_sequence_ = 1;
  std::optional<std::uint32_t> open_;
  std::function<void()> on_unpinned_;
  Rng rng_;
};

}  // namespace forebay::store
