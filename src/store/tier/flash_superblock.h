// Reads, writes and repairs the superblocks, and formats a device.
//
// Suspends. Errors: kNotFound (nothing was formatted here), kCorrupt (a store, but damaged or of
// another device), kVersion, and the device's.
#pragma once

#include <array>
#include <optional>

#include "core/task.h"
#include "store/tier/flash_core.h"
#include "store/tier/flash_range.h"

namespace forebay::store {

// By copy: why it is not good.
using SuperblockDamage = std::array<std::optional<Error>, 2>;

struct FoundSuperblock {
  SuperblockFacts facts;
  SuperblockDamage damage;  // at most one is set: what another copy repairs
};
// `core` is any core on the device; only its queues are used.
[[nodiscard]] Task<Result<FoundSuperblock>> find_superblock(FlashCore* core, RangeOptions options);

// Marks all segments free, then writes the superblocks, each step durable before the next: a power
// cut leaves a device that was never formatted, or a whole empty store.
[[nodiscard]] Task<Status> format_device(FlashCore* core, RangeOptions options);

// Writes both copies, one durable before the other is touched.
[[nodiscard]] Task<Status> write_superblocks(FlashCore* core, RangeOptions options);
[[nodiscard]] Task<Status> write_superblock(FlashCore* core, std::uint32_t copy,
                                            RangeOptions options);

// Writes the free mark of a segment; not flushed.
[[nodiscard]] Task<Status> write_free_mark(FlashCore* core, std::uint32_t segment,
                                           std::uint64_t sequence, RangeOptions options);

}  // namespace forebay::store
