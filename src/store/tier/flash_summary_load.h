// Reads the summary of a sealed segment from the device, for recovery, reclaim and checkpoints.
#pragma once

#include <cstdint>
#include <optional>

#include "core/task.h"
#include "store/tier/flash_core.h"
#include "store/tier/flash_range.h"
#include "store/tier/flash_summary.h"

namespace forebay::store {

struct LoadedSummary {
  IoBuffer body;
  std::optional<SummaryView> view;  // into `body`; always there on success
};
// kCorrupt: it does not prove itself. kIo and the other errors of the device.
[[nodiscard]] Task<Result<LoadedSummary>> load_summary(FlashCore* core, std::uint32_t segment,
                                                       RangeOptions options);

}  // namespace forebay::store
