// Reads records of the flash tier straight into lent memory, and checks everything.
//
// A call's records that stand one after another on the device become one stretch of scattered
// requests; each record is proven as its bytes arrive, while they are still in the cache. The
// checks: header (magic, version, store, generation, place, CRC-32C), identity, length, data.
//
// Ownership: lent memory is held (LentBuffer::owner) until the device let go of it, also after the
// call ended at its deadline; a call with memory that has no owner waits for the device. Segments
// with reads in flight are pinned. Steady state allocates nothing: jobs, requests and pages are
// pooled. Threads: one core. Errors, each item its own: kNotFound (nothing stands there), kCorrupt,
// kInvalid (pieces do not add up), kIo, kTimedOut, kCancelled, kGone.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "core/task.h"
#include "store/tier/flash_core.h"

namespace forebay::store {

class ReadJob;

class FlashReader {
 public:
  explicit FlashReader(FlashCore& core);
  ~FlashReader();
  FlashReader(const FlashReader&) = delete;
  FlashReader& operator=(const FlashReader&) = delete;

  // With `headers`, the header page of each item that was proven is handed out at its place.
  [[nodiscard]] Task<void> read(std::span<FlashRead> items, FlashCall call,
                                std::vector<IoBuffer>* headers = nullptr);

 private:
  friend class ReadJob;
  [[nodiscard]] ReadJob* take();
  void give_back(ReadJob* job);

  FlashCore& core_;
  std::vector<std::unique_ptr<ReadJob>> idle_;
};

}  // namespace forebay::store
