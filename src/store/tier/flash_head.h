// The head of the log: where the next record goes, when a segment is full, and its seal.
//
// Records go to the one open segment, in order; so the order of places is the order of time, and of
// two copies of a block the later place is the newer. reserve() never suspends. A record that was
// reserved must be resolved once: good (durable) or not. When all records of a full segment are
// resolved, its summary is written.
//
// Promise to recovery: between two good records of a segment lie at most kRecordBytesMax of bytes
// that prove nothing, so a scan knows where to stop. Threads: one core. Errors of reserve(): kBusy
// (wait for changed()), kNoSpace (reclaim itself, which must not wait), and those of
// FlashHealth::may_write().
#pragma once

#include <cstdint>
#include <functional>
#include <list>

#include "core/task.h"
#include "store/tier/flash_core.h"
#include "store/tier/flash_wait.h"

namespace forebay::store {

struct LogPlace {
  std::uint32_t segment = 0;
  std::uint64_t sequence = 0;
  FlashPage page = kNoFlashPage;
  std::size_t record = 0;  // in the segment's records
};

class LogHead {
 public:
  explicit LogHead(FlashCore& core) : core_(core) {}
  LogHead(const LogHead&) = delete;
  LogHead& operator=(const LogHead&) = delete;

  struct Wanted {
    const RecordFacts& facts;
    RecordKind kind = RecordKind::kBlock;
    std::uint64_t data_bytes = 0;
    bool for_reclaim = false;  // may take the last free segment
  };
  [[nodiscard]] Result<LogPlace> reserve(const Wanted& wanted);
  // `tombstones`: what a good kTombstones record says.
  void resolve(const LogPlace& place, std::uint64_t data_bytes, bool good);
  void resolve_tombstones(const LogPlace& place, std::span<const Tombstone> tombstones, bool good);

  // Every record logged so far stands before this, every later one not.
  struct Position {
    std::uint64_t sequence = 0;
    FlashPage page = kNoFlashPage;
  };
  [[nodiscard]] Position position() const;

  // Something changed that a refused reserve() may have waited for.
  [[nodiscard]] WaitList& changed() { return changed_; }
  // The reclaimer: asked for segments here; tells here what it achieved.
  void on_segments_wanted(std::function<void()> callback) { want_segments_ = std::move(callback); }
  // Nothing can be freed now: those who wait for room are told so.
  void give_up();
  [[nodiscard]] std::uint64_t times_given_up() const { return times_given_up_; }
  // How many segments were begun by what reclaim moves.
  [[nodiscard]] std::uint64_t segments_for_reclaim() const { return segments_for_reclaim_; }
  // A segment's header reached the device or failed to: the committer waits for it.
  void on_header_settled(std::function<void()> callback) { header_settled_ = std::move(callback); }

  // Every full segment whose records are resolved is sealed, or its seal failed.
  [[nodiscard]] bool seals_pending() const { return seals_running_ > 0; }
  // Seals a segment found by recovery; its records must be all good.
  void seal_soon(std::uint32_t index);

 private:
  [[nodiscard]] bool fits(const Segment& segment, std::uint64_t pages, const Wanted& wanted) const;
  // Its header may be lost: failed, or written before a flush that failed.
  [[nodiscard]] bool header_in_doubt(const Segment& segment) const;
  [[nodiscard]] Status roll(bool for_reclaim);
  void settle(std::uint32_t index);
  [[nodiscard]] Task<void> write_header(std::uint32_t index, std::uint64_t sequence);
  [[nodiscard]] Task<void> seal(std::uint32_t index);
  [[nodiscard]] Task<void> refresh_heat(std::uint32_t index);
  void start(Task<void> task);

  FlashCore& core_;
  WaitList changed_;
  std::function<void()> want_segments_;
  std::function<void()> header_settled_;
  std::list<Task<void>> tasks_;
  std::uint64_t failed_flushes_at_open_ = 0;  // of the core, when the open segment was begun
  std::size_t seals_running_ = 0;
  std::uint64_t segments_for_reclaim_ = 0;
  std::uint64_t times_given_up_ = 0;
};

}  // namespace forebay::store
