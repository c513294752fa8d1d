// The tier's own reads, writes and flushes of a stretch of the device, for its background steps.
//
// The buffer is moved in and comes back with the result. When the deadline passes first, the call
// ends with kTimedOut and the buffer stays with the device until that lets go. The awaiting frame
// may be destroyed at any time. Threads: one core. Errors: the device's, kTimedOut, kCancelled.
#pragma once

#include <cstdint>

#include "core/cancel.h"
#include "core/task.h"
#include "store/tier/flash_core.h"

namespace forebay::store {

struct RangeOptions {
  block::OpClass op_class = block::OpClass::kGc;
  Nanos deadline = kForever;
  CancelSource* cancel = nullptr;
};

// All of `buffer`, from `offset_bytes` on.
[[nodiscard]] Task<Result<IoBuffer>> read_range(FlashCore* core, std::uint64_t offset_bytes,
                                                IoBuffer buffer, RangeOptions options);
[[nodiscard]] Task<Result<IoBuffer>> write_range(FlashCore* core, std::uint64_t offset_bytes,
                                                 IoBuffer buffer, RangeOptions options);
[[nodiscard]] Task<Status> flush_device(FlashCore* core, RangeOptions options);

}  // namespace forebay::store
