// One append call in flight (flash_writer.h): its records, its transfers, and who waits for it.
//
//   reserving and laying -> writing -> waiting for a flush that covers it -> decided
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "store/tier/flash_core.h"
#include "store/tier/flash_head.h"
#include "store/tier/flash_stream.h"
#include "store/tier/flash_wait.h"

namespace forebay::store {

class FlashWriter;

// What reclaim and forget() add to an append.
struct AppendExtras {
  RecordKind kind = RecordKind::kBlock;
  bool for_reclaim = false;               // may take the last free segment, never waits for one
  std::span<const FlashPage> moved_from;  // this item is a copy of the record there; else empty
  std::span<const Tombstone> tombstones;  // the data of a kTombstones item
};

// Keeps segments from being reclaimed while an append call that put records there has not returned:
// until then the owner does not know them, and would call them dead. A parameter of the call's
// coroutine, so it goes with the frame.
class AppendClaims {
 public:
  explicit AppendClaims(FlashCore& core) : core_(core) {}
  ~AppendClaims() {
    for (const std::uint32_t segment : segments_) --core_.segments.at(segment).claims;
  }
  AppendClaims(const AppendClaims&) = delete;
  AppendClaims& operator=(const AppendClaims&) = delete;
  void add(std::uint32_t segment) {
    if (!segments_.empty() && segments_.back() == segment) return;
    segments_.push_back(segment);
    ++core_.segments.at(segment).claims;
  }

 private:
  FlashCore& core_;
  std::vector<std::uint32_t> segments_;
};

class AppendJob {
 public:
  AppendJob(FlashWriter& writer, FlashCore& core) : writer_(writer), core_(core) {}

  void begin(const FlashCall& call, const AppendExtras* extras, AppendClaims* claims);
  // Gives the item its place in the log; it is laid and written by lay_next(), in this order.
  void add(FlashAppend& item, const LogPlace& place);
  [[nodiscard]] bool empty() const { return records_.empty(); }
  [[nodiscard]] bool nothing_to_lay() const { return laid_records_ == records_.size(); }
  // Checksums, encodes and submits the next reserved record; returns its bytes.
  std::size_t lay_next();
  // No more records will come: what is laid goes out, and then the job waits for its flush.
  void end_laying();
  // The deadline passed or the caller took the call back: undecided items get `why`.
  void give_up(const Error& why);
  void detach();

  [[nodiscard]] bool all_decided() const { return undecided_ == 0; }
  [[nodiscard]] bool must_wait() const { return unowned_ && outstanding_ > 0; }
  void wait_with(Waiter* waiter) { waiter_ = waiter; }

  // The committer's side.
  enum class Headers : std::uint8_t { kPending, kWritten, kFailed };
  [[nodiscard]] Headers headers() const;
  void committed(Status flushed);

  // Is a copy of this block on its way to the log?
  [[nodiscard]] bool holds_undecided(const BlockId& id) const;
  AppendJob* next_active = nullptr;
  AppendJob* previous_active = nullptr;

 private:
  struct Record {
    FlashAppend* item = nullptr;  // null once decided
    BlockId id;
    LogPlace place;
    std::uint64_t data_bytes = 0;
    bool failed = false;
    bool decided = false;
    IoBuffer header;
  };

  void submit_laid();
  void finish(Transfer& done);
  void decide(Record& record, Status status);
  void settle();
  void recycle();

  FlashWriter& writer_;
  FlashCore& core_;
  const AppendExtras* extras_ = nullptr;
  AppendClaims* claims_ = nullptr;
  block::Request prototype_;
  std::optional<StreamBuilder> builder_;
  FlashPage next_page_ = kNoFlashPage;
  std::vector<Record> records_;
  std::vector<Transfer*> laid_;       // by the builder, not yet submitted
  std::vector<Transfer*> transfers_;  // submitted; null when done
  std::vector<std::shared_ptr<const void>> owners_;
  std::size_t laid_records_ = 0;
  std::size_t undecided_ = 0;
  std::size_t outstanding_ = 0;
  std::uint64_t failed_flushes_before_ = 0;
  bool laying_ = false;
  bool committing_ = false;
  bool unowned_ = false;
  bool attached_ = false;
  Waiter* waiter_ = nullptr;
};

}  // namespace forebay::store
