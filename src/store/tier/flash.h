// The flash tier: an append-only log of segments on one block::Device (docs/formats/flash-tier.md).
//
// It stores, reads and proves records; what is worth keeping is decided by its owner (the Store),
// which also holds the one index over all tiers. A record is a header page and the data, padded to
// pages; a segment is a header page, records, and a summary written when it is sealed.
//
// Durable means: written and flushed. append() ends after that, so whoever makes a block visible
// when append() ended never shows a block that a power cut can take back.
// Space: free segments are made by reclaiming whole segments; the owner says which records of the
// victim are worth moving. Capacity is physical and fixed at format.
// Threads: the core of the device's loop.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "block/device.h"
#include "core/cancel.h"
#include "core/task.h"
#include "store/key.h"
#include "store/lent_buffer.h"

namespace forebay::store {

// Where a record stands: the device page of its header. A page is FlashGeometry::page_bytes.
using FlashPage = std::uint32_t;
inline constexpr FlashPage kNoFlashPage = 0;  // page 0 is the superblock's

struct FlashOptions {
  std::uint64_t segment_bytes = 0;  // 0: chosen from the device size at format
  bool format = false;              // format a device that holds no store; never one that does
  std::uint64_t read_in_flight_bytes_max = 32 << 20;  // depth, in bytes
  std::uint64_t write_in_flight_bytes_max = 16 << 20;
  double moved_fraction_max = 0.25;     // of a reclaimed segment: bounds write amplification
  std::uint32_t free_segments_low = 4;  // reclaim below this
  double drive_writes_per_day_max = 0;  // 0: no limit; else the wear limit (read-only above)
  Nanos open_within{kForever};          // open() fails with kTimedOut when the device takes longer
  std::uint64_t seed = 0;               // of a formatted store's uuid; 0: from the clock
  std::function<bool()> kill_point;     // tests: true stops the tier dead before the next write
};

// What a record proves about itself; strings are views valid during the call that passes them.
struct RecordFacts {
  BlockId id;
  BlockId parent;
  std::string_view tenant;
  std::string_view layout_fingerprint;
  std::span<const std::byte> engine_key;
  std::uint32_t data_bytes = 0;
  std::uint32_t token_count = 0;  // of this block
  std::uint32_t chain_depth = 0;  // blocks before it
  std::uint32_t heat = 0;         // the owner's word, kept with the record, restored at open
};

struct RecoveredRecord {
  RecordFacts facts;
  FlashPage page = kNoFlashPage;
};

// The owner's side. Calls come on the core, never from inside append() or read() before they
// suspend.
class FlashOwner {
 public:
  virtual ~FlashOwner() = default;
  // Once per record found at open, newest last; a later one with the same id replaces an earlier,
  // and the owner gives the earlier back by forget() once open() ended. The engine key is empty:
  // only the record's own header holds it (FlashTier::names_of).
  virtual void on_recovered(const RecordFacts& facts, FlashPage page) = 0;
  // The same in batches, so that an index may fetch its buckets ahead: tens of millions come.
  virtual void on_recovered_batch(std::span<const RecoveredRecord> batch) {
    for (const RecoveredRecord& record : batch) on_recovered(record.facts, record.page);
  }
  // At most this many will come; called before the first.
  virtual void on_recovery_size(std::uint64_t /*record_count*/) {}
  // What keep() wrote last, before any record is told of; not called where nothing was kept, or
  // what was does not prove itself. The bytes prove themselves; what they say may be of any age.
  virtual void on_kept(std::span<const std::byte> /*bytes*/) {}
  // Is this very copy still wanted? Asked for each record of a segment being reclaimed.
  [[nodiscard]] virtual bool is_live(const BlockId& id, FlashPage page) = 0;
  // What the record is worth per byte, in any unit; records of low worth are dropped, not moved.
  [[nodiscard]] virtual double worth(const BlockId& id, FlashPage page) = 0;
  virtual void on_moved(const BlockId& id, FlashPage from, FlashPage to) = 0;
  virtual void on_dropped(const BlockId& id, FlashPage page) = 0;
  // The word to store as RecordFacts::heat when a summary or a heat snapshot is written.
  [[nodiscard]] virtual std::uint32_t heat_of(const BlockId& id, FlashPage page) = 0;
};

struct FlashAppend {
  RecordFacts facts;
  LentBuffer data;  // facts.data_bytes in all; any alignment (unaligned: copied)
  std::optional<std::uint32_t> data_crc;  // CRC-32C of the bytes, where it is known already
  // Out:
  Status status;
  FlashPage page = kNoFlashPage;
};

struct FlashRead {
  FlashPage page = kNoFlashPage;
  BlockId id;                    // must be what the header says
  std::uint32_t data_bytes = 0;  // must be what the header says
  LentBuffer data;
  // Out: kCorrupt when anything does not prove itself, kIo, kTimedOut, kCancelled, kGone.
  Status status;
};

struct FlashCall {
  block::IoOptions io;
  CancelSource* cancel = nullptr;
};

enum class FlashMode : std::uint8_t { kReadWrite, kReadOnly, kGone };
// "read_write", "read_only", "gone"
[[nodiscard]] const char* to_string(FlashMode mode);

struct FlashStats {
  FlashMode mode = FlashMode::kReadWrite;
  std::string mode_reason;           // why not kReadWrite
  std::uint64_t capacity_bytes = 0;  // physical, all segments
  std::uint64_t live_bytes = 0;      // records not dropped, headers and padding included
  std::uint64_t segment_count = 0;
  std::uint64_t free_segment_count = 0;
  std::uint64_t data_bytes_max = 0;        // the largest block that fits a segment
  std::uint64_t host_written_bytes = 0;    // asked for by append(): data only
  std::uint64_t device_written_bytes = 0;  // all that went to the device, summaries and moves too
  // The same two over all lives of the store, as the last checkpoint of each counted.
  std::uint64_t host_written_bytes_ever = 0;
  std::uint64_t device_written_bytes_ever = 0;
  std::uint64_t moved_bytes = 0;
  std::uint64_t dropped_blocks = 0;
  std::uint64_t corrupt_records = 0;
  std::uint64_t read_bytes = 0;
  std::uint64_t reclaimed_segments = 0;
  double drive_writes_per_day = 0;
  // The depth really reached, in bytes on the device at once.
  std::uint64_t read_in_flight_bytes_peak = 0;
  std::uint64_t write_in_flight_bytes_peak = 0;
  Nanos recovery_time{0};
  std::uint64_t recovered_blocks = 0;
};

// One finding of verify(): which block, where, why.
struct FlashFinding {
  std::uint64_t offset_bytes = 0;
  BlockId id;  // all zeroes: no block, but what the store keeps beside its blocks
  std::string reason;
};

// Everything that append() was told, as the record's own header says it.
struct RecordNames {
  BlockId id;
  BlockId parent;
  std::uint32_t data_bytes = 0;
  std::uint32_t token_count = 0;
  std::uint32_t chain_depth = 0;
  std::string tenant;
  std::string layout_fingerprint;
  std::vector<std::byte> engine_key;
};

class FlashTier {
 public:
  // Opens (or formats) and recovers; the owner hears of every record before this ends.
  // kCorrupt: not a store, or of another device (the message says which). kVersion. kNoSpace: too
  // small. The device and the owner must outlive the tier.
  [[nodiscard]] static Task<Result<std::unique_ptr<FlashTier>>> open(block::Device* device,
                                                                     FlashOwner* owner,
                                                                     FlashOptions options);
  virtual ~FlashTier() = default;

  // Each item gets its own status and page. Items of one call are laid one after another, so that
  // a chain put together is read together. kReadOnly, kNoSpace, kTimedOut, kIo.
  [[nodiscard]] virtual Task<void> append(std::span<FlashAppend> items, FlashCall call) = 0;
  // Reads straight into the lent buffers; checks everything; each item gets its own status.
  [[nodiscard]] virtual Task<void> read(std::span<FlashRead> items, FlashCall call) = 0;
  // The owner no longer wants this record; its space returns when its segment is reclaimed. With
  // `durable` a tombstone is logged, so that it stays gone after a crash.
  [[nodiscard]] virtual Task<Status> forget(BlockId id, FlashPage page, std::uint32_t data_bytes,
                                            bool durable, FlashCall call = {}) = 0;
  // Writes heat and (clean) usage, flushes. After this open() needs no scan.
  [[nodiscard]] virtual Task<Status> checkpoint(FlashCall call = {}) = 0;
  // Keeps the owner's bytes over restarts in place of those kept before, durably; a crash on the
  // way leaves these. kNoSpace: more than kept_bytes_max(). kUnsupported: formatted without room.
  // kBusy: the call before has not ended. `bytes` must stay until the call ends.
  [[nodiscard]] virtual Task<Status> keep(std::span<const std::byte> bytes, FlashCall call) {
    (void)bytes;
    (void)call;
    co_return fail(Errc::kUnsupported, "flash: keep");
  }
  [[nodiscard]] virtual std::size_t kept_bytes_max() const { return 0; }
  // Reads and checks every record, at class GC, until the call's deadline or cancel; findings are
  // returned, bounded by `findings_max`. On a device that is open for reading only, what open()
  // could have repaired is one too.
  struct VerifyResult {
    std::uint64_t records = 0;
    std::uint64_t bytes = 0;
    std::uint64_t bad = 0;
    std::vector<FlashFinding> findings;
  };
  [[nodiscard]] virtual Task<Result<VerifyResult>> verify(std::size_t findings_max,
                                                          FlashCall call) = 0;
  // What the record that begins at `page` says in its own header, the engine key and the whole id
  // too, and whose it is the caller compares. kCorrupt, kNotFound, the device's. kUnsupported: this
  // tier keeps no headers.
  [[nodiscard]] virtual Task<Result<RecordNames>> names_of(FlashPage page, FlashCall call) {
    (void)page;
    (void)call;
    co_return fail(Errc::kUnsupported, "flash: names");
  }
  // Stops background work and checkpoints; the tier takes no calls after.
  [[nodiscard]] virtual Task<Status> close(FlashCall call = {}) = 0;
  [[nodiscard]] virtual FlashStats stats() const = 0;
};

}  // namespace forebay::store
