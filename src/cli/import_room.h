// How much a store still takes before it would have to reclaim, and so evict, older blocks.
//
// Segments are free or not only when what was put is on flash. So room is granted in steps of half
// of what is left, and looked at again after a flush. Units: bytes. Threads: the store's core.
// Suspends the caller's thread while it flushes.
#pragma once

#include <cstdint>

#include "cli/open_store.h"

namespace forebay::cli {

class ImportRoom {
 public:
  // `endless`: the store may evict, there is always room.
  ImportRoom(OpenStore& opened, bool endless)
      : opened_(opened),
        endless_(endless),
        data_bytes_max_(opened.store->stats().flash.data_bytes_max) {}
  // take() will look at the store: what it was told of before must have been put by then.
  [[nodiscard]] bool measures_next(std::uint64_t data_bytes) const;
  // kNoSpace: a block of this size would push older ones out. kUnsupported: no block of this size
  // fits a segment of the store. Else the flush's errors.
  [[nodiscard]] Status take(std::uint64_t data_bytes);

 private:
  [[nodiscard]] Status measure();

  OpenStore& opened_;
  bool endless_;
  std::uint64_t data_bytes_max_;
  std::uint64_t granted_bytes_ = 0;
};

}  // namespace forebay::cli
