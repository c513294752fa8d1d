// Blocks on their way from DRAM to flash: a bounded queue, written in batches behind the demand
// path, oldest first, so that a chain put together is laid down together.
//
// A block in the queue cannot be evicted. flush() waits for what was accepted before it. Units:
// bytes. Threads: one core. Errors of single blocks are theirs: the block stays in DRAM only.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "core/task.h"
#include "store/signal.h"
#include "store/tier/dram.h"
#include "store/tier/flash.h"

namespace forebay::store {

struct StoreState;

class WriteBack {
 public:
  // Bytes of one append: large enough for the device's rate, small enough that several are on their
  // way while one waits for its flush.
  static constexpr std::uint64_t kBatchBytes = 8ULL << 20;
  static constexpr unsigned kBatchesMax = 8;

  WriteBack(io::Loop& loop, std::uint64_t bytes_max) : changed_(loop), bytes_max_(bytes_max) {}

  [[nodiscard]] bool has_room(std::uint32_t data_bytes) const {
    return waiting_bytes_ == 0 || waiting_bytes_ + data_bytes <= bytes_max_;
  }
  // The block must be filled; its header says whose it is. `data_crc`: CRC-32C of its bytes, where
  // the caller knows it; else they are read once more.
  void push(StoreState& state, DramBlock block, std::optional<std::uint32_t> data_crc = {});
  // Starts batches while there is work.
  void pump(StoreState& state);
  [[nodiscard]] bool idle() const { return waiting_bytes_ == 0; }
  [[nodiscard]] std::uint64_t waiting_bytes() const { return waiting_bytes_; }
  // Fires when bytes left the queue.
  [[nodiscard]] Signal& changed() { return changed_; }
  // done_before(ticket()) later: everything pushed by now has been written, refused or dropped.
  [[nodiscard]] std::uint64_t ticket() const { return pushed_; }
  [[nodiscard]] bool done_before(std::uint64_t ticket) const;
  // Why the last block that could not be written was not, since the last call.
  [[nodiscard]] Status take_failure();

 private:
  struct Entry {
    DramBlock block;
    std::uint32_t generation;
    std::uint32_t data_bytes;
    std::optional<std::uint32_t> data_crc;
    std::uint32_t tenant;
  };
  struct Batch {
    std::uint64_t first = 0;  // the number of its first push
    std::uint64_t bytes = 0;
    std::vector<Entry> entries;  // of one tenant, who pays for it
  };
  static Task<void> write_batch(std::shared_ptr<StoreState> state, Batch batch);
  // False: what was written is not wanted any more.
  static bool settle(StoreState& state, DramBlock block, const FlashAppend& outcome);
  [[nodiscard]] Batch take_batch();

  Signal changed_;
  std::deque<Entry> queue_;
  std::uint64_t bytes_max_;
  std::uint64_t waiting_bytes_ = 0;  // queued and in flight
  std::uint64_t pushed_ = 0;
  std::vector<std::uint64_t> in_flight_;  // first numbers of the batches in flight
  Status failure_;
};

}  // namespace forebay::store
