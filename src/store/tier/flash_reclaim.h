// Reclaims segments in the background: moves what is worth it, drops the rest, frees the segment.
//
//   pick -> read its summary -> choose -> move in batches -> drop -> emptied -> (no readers) ->
//   free
//
// Runs at class GC with one bounded batch in flight, so it never stands before a demand read. A
// crash at any point is safe: the victim keeps its records until the copies are durable. When the
// copies find no room they are dropped instead, so a full tier always gets a segment back.
// Threads: one core. The owner's calls come from here, some hundreds between two turns of the loop.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/task.h"
#include "store/tier/flash_reader.h"
#include "store/tier/flash_tombstones.h"
#include "store/tier/flash_victim.h"
#include "store/tier/flash_wait.h"
#include "store/tier/flash_writer.h"

namespace forebay::store {

class Reclaimer {
 public:
  Reclaimer(FlashCore& core, FlashReader& reader, FlashWriter& writer, TombstoneLog& tombstones);

  void start();
  // Ends after the step it is in. kTimedOut: the device did not let it end in time.
  [[nodiscard]] Task<Status> stop(FlashCall call);

 private:
  struct Entry {
    BlockId id;
    FlashPage page = kNoFlashPage;
    std::uint32_t data_bytes = 0;
    double worth = 0;
  };
  struct Copies;

  void wake();
  [[nodiscard]] bool wanted() const;
  [[nodiscard]] bool has_emptied() const;
  [[nodiscard]] Task<void> run();
  // When round after round the copies begin a segment of their own, by bad luck with sizes, fewer
  // are made, in the end none: reclaim must gain room.
  void note_progress();
  [[nodiscard]] double moved_fraction() const;
  [[nodiscard]] Task<void> pause(Nanos at_most);
  [[nodiscard]] Task<std::optional<std::uint32_t>> pick();
  // False: nothing was freed and it is not worth trying again at once.
  [[nodiscard]] Task<bool> reclaim(std::uint32_t victim);
  [[nodiscard]] Task<Result<std::vector<Entry>>> list(std::uint32_t victim,
                                                      std::vector<Tombstone>* tombstones);
  [[nodiscard]] Task<std::vector<Entry>> choose(std::vector<Entry>* entries);
  [[nodiscard]] Task<Status> move(std::vector<Entry> chosen);
  [[nodiscard]] Task<Status> move_batch(std::span<const Entry> entries);
  [[nodiscard]] Status settle_moves(const Copies& copies);
  [[nodiscard]] Task<Status> carry(std::vector<Tombstone> tombstones, std::uint32_t victim);
  [[nodiscard]] Task<void> drop(std::vector<Entry> entries);
  [[nodiscard]] Task<Status> free_emptied();
  void retire(std::uint32_t victim, const Error& why);

  FlashCore& core_;
  FlashReader& reader_;
  FlashWriter& writer_;
  TombstoneLog& tombstones_;
  VictimTerms terms_;
  WaitList wakers_;
  WaitList stopped_;
  Task<void> task_;
  bool running_ = false;
  bool stopping_ = false;
  std::uint32_t rounds_without_gain_ = 0;
  std::uint64_t taken_before_ = 0;
};

}  // namespace forebay::store
