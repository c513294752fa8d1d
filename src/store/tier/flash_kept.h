// Keeps a few bytes for the tier's owner over restarts, in two slots behind the last segment.
//
// The slots take turns and the newer whole one rules, so that a crash leaves what was kept before.
// What does not prove itself is as if nothing had been kept: it costs no block. Threads: one core.
// Suspends. Errors of keep(): kUnsupported (formatted without room), kNoSpace (larger than a slot),
// kBusy (one is being written), the device's.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "core/task.h"
#include "store/tier/flash_core.h"
#include "store/tier/flash_kept_format.h"
#include "store/tier/flash_range.h"

namespace forebay::store {

class KeptSlots {
 public:
  explicit KeptSlots(FlashCore& core) : core_(core) {}

  // At open: tells the owner what the newest good slot holds, if there is one.
  [[nodiscard]] Task<void> load(RangeOptions options);
  [[nodiscard]] Task<Status> keep(std::span<const std::byte> bytes, FlashCall call);
  [[nodiscard]] std::size_t bytes_max() const;

 private:
  [[nodiscard]] std::uint64_t slot_bytes() const;
  [[nodiscard]] KeptHeader header_of(std::uint32_t slot) const;
  [[nodiscard]] Task<void> look_at(std::uint32_t slot, RangeOptions options);
  // False where the body does not prove itself.
  [[nodiscard]] Task<bool> deliver(std::uint32_t slot, RangeOptions options);

  FlashCore& core_;
  std::array<std::optional<KeptHeader>, 2> found_;
  std::optional<Error> damage_;  // why a slot that was written is not used
  std::uint64_t number_ = 0;     // of the newest that is whole
  bool writing_ = false;
};

}  // namespace forebay::store
