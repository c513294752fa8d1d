// Finds again what a device holds: superblock, checkpoint, segments, and every record in them.
//
//   survey    the header page and the footer page of each segment, many at once
//   scan      the few segments without a good footer, by their record headers
//   deliver   summaries with the newest heat, in the order of the log, to the owner
//
// Tolerates any bytes: what does not prove itself is not there. Suspends; reads many in flight and
// delivers in order. Errors of open: kNotFound (nothing was formatted here), kCorrupt, kVersion,
// kGone, kTimedOut.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "core/task.h"
#include "store/tier/flash_checkpoint_format.h"
#include "store/tier/flash_core.h"
#include "store/tier/flash_range.h"
#include "store/tier/flash_scan.h"
#include "store/tier/flash_summary_load.h"

namespace forebay::store {

class FlashRecovery {
 public:
  FlashRecovery(FlashCore& core, RangeOptions options) : core_(core), options_(options) {}

  [[nodiscard]] Task<Status> run();
  // Of the newest whole checkpoint.
  [[nodiscard]] const std::optional<CheckpointHeader>& checkpoint() const { return checkpoint_; }
  // Segments that hold records but no good summary; the tier seals them.
  [[nodiscard]] const std::vector<std::uint32_t>& to_seal() const { return to_seal_; }

 private:
  struct Surveyed {
    Result<SegmentHeader> header = fail(Errc::kCorrupt, "segment header: not read");
    Result<SummaryFooter> footer = fail(Errc::kCorrupt, "summary: not read");
    bool footer_was_there = false;  // one of this store's, and damaged
  };
  struct Loaded {           // one sealed segment, ready to be delivered
    LoadedSummary summary;  // without a view: the segment was scanned instead
    IoBuffer slot;
    std::span<const std::byte> heat;
  };

  [[nodiscard]] Task<Status> read_checkpoints();
  [[nodiscard]] Task<void> survey(std::uint32_t index);
  [[nodiscard]] Task<Result<IoBuffer>> read_page(FlashPage page);
  [[nodiscard]] Task<Status> scan_unsealed();
  [[nodiscard]] Task<Result<ScanOutcome>> scan(std::uint32_t index,
                                               std::optional<std::uint64_t> sequence);
  // The tail summary, when the checkpoint holds one of this very segment: where to scan from.
  [[nodiscard]] Task<std::uint32_t> take_tail_summary(std::uint32_t index);
  void classify(std::uint32_t index);
  // Of a segment without a good footer: why, if it must have had one.
  [[nodiscard]] std::optional<Error> lost_footer(std::uint32_t index) const;
  void bury(const Tombstone& tombstone);
  [[nodiscard]] bool is_buried(const BlockId& id, std::uint64_t sequence, FlashPage page) const;
  [[nodiscard]] Task<Status> load_tombstones();
  [[nodiscard]] Task<Result<Loaded>> load(std::uint32_t index);
  struct DamagedSummary {
    std::uint32_t segment;
    std::uint32_t page;  // within it: where the damage is
    Error why;
  };
  void note(const DamagedSummary& damaged, const ScanOutcome& found);
  [[nodiscard]] Task<Status> load_heat(std::uint32_t index, Loaded* loaded);
  [[nodiscard]] Task<Status> deliver_all();
  void deliver(std::uint32_t index, const Loaded& loaded);
  void deliver_scanned(std::uint32_t index);
  void offer(std::uint32_t index, const RecordFacts& facts, std::uint32_t page);
  void flush_batch();
  void settle_states();

  FlashCore& core_;
  RangeOptions options_;
  std::optional<CheckpointHeader> checkpoint_;
  std::vector<Surveyed> surveyed_;
  std::vector<std::uint32_t> unsealed_;
  std::vector<std::uint32_t> to_seal_;
  std::vector<bool> clean_tail_;  // by segment: the scan found nothing behind the tail summary
  struct Burial {
    std::uint64_t sequence;
    FlashPage page;
  };
  std::unordered_map<BlockId, Burial> buried_;
  std::vector<RecoveredRecord> batch_;
  std::optional<Error> broken_;
  std::uint64_t damaged_summaries_ = 0;
};

}  // namespace forebay::store
