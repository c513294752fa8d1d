// Reads every segment and compares it with what should stand in it: the body of verify().
//
// Of class GC, one segment at a time, in the order of the device. Only blocks that the owner still
// wants are judged; a damaged summary is a finding of its own. Threads: one core. Suspends. Errors:
// kCancelled, kGone.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/task.h"
#include "store/tier/flash_core.h"
#include "store/tier/flash_range.h"

namespace forebay::store {

class Scrubber {
 public:
  Scrubber(FlashCore& core, std::size_t findings_max) : core_(core), findings_max_(findings_max) {}
  [[nodiscard]] Task<Result<FlashTier::VerifyResult>> run(FlashCall call);

 private:
  struct Expected {
    BlockId id;
    std::uint32_t page = 0;  // within the segment
    std::uint32_t data_bytes = 0;
    const char* trouble = nullptr;  // none: it proved itself
  };

  [[nodiscard]] Task<Status> scrub(std::uint32_t segment, RangeOptions options);
  [[nodiscard]] Task<Status> list(std::uint32_t segment, RangeOptions options);
  [[nodiscard]] Task<Status> walk(std::uint32_t segment, RangeOptions options);
  [[nodiscard]] Task<void> judge(std::uint32_t segment);
  void find(std::uint64_t offset_bytes, const BlockId& id, std::string reason);

  FlashCore& core_;
  std::size_t findings_max_;
  FlashTier::VerifyResult result_;
  std::vector<Expected> expected_;  // of the segment being scrubbed, in its order
};

}  // namespace forebay::store
