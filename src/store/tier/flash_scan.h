// Reads a segment from the device, in order and ahead, for whoever looks at every byte of it.
//
// scan_segment() finds the records of a segment that has no (good) summary. Bytes that cannot be
// read count as bytes that prove nothing. Suspends; bounded memory: kScanAhead chunks. Errors:
// kGone, kTimedOut, kCancelled; a bad sector is none.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "core/task.h"
#include "store/tier/flash_core.h"
#include "store/tier/flash_range.h"

namespace forebay::store {

inline constexpr std::size_t kScanAhead = 8;

struct SegmentStretch {
  std::uint32_t segment = 0;
  std::uint32_t begin_page = 0;  // within the segment
  std::uint32_t end_page = 0;
};
// Calls `take` with consecutive chunks; false from it ends the reading early. Unreadable chunks
// arrive as zeroes, with the second argument false.
[[nodiscard]] Task<Status> read_segment(
    FlashCore* core, SegmentStretch stretch,
    std::function<bool(std::span<const std::byte>, bool readable)> take, RangeOptions options);

struct ScanOutcome {
  std::optional<std::uint64_t> sequence;  // what the records say
  std::uint32_t end_page = 0;             // within the segment: where the last one ends
  std::uint64_t good_records = 0;
  std::uint64_t bad_records = 0;
  std::uint32_t unproven_pages = 0;  // before end_page, of no good record
};
struct ScanRequest {
  std::uint32_t segment = 0;
  std::uint32_t from_page = 1;  // within the segment
  std::optional<std::uint64_t> sequence;
};
// Good records are added to `records`, in the order of the log.
[[nodiscard]] Task<Result<ScanOutcome>> scan_segment(FlashCore* core, ScanRequest request,
                                                     SegmentRecords* records, RangeOptions options);

// Runs fn(0) .. fn(count - 1), at most `width` at a time, oldest awaited first.
[[nodiscard]] Task<void> for_each_ahead(std::uint32_t count, std::size_t width,
                                        std::function<Task<void>(std::uint32_t)> fn);

}  // namespace forebay::store
