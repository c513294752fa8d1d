#include "cli/import_room.h"

#include <algorithm>

#include "cli/store_size.h"

namespace forebay::cli {
bool ImportRoom::measures_next(std::uint64_t data_bytes) const {
  return !endless_ && granted_bytes_ < footprint_bytes(data_bytes);
}

Status ImportRoom::measure() {
  FOREBAY_TRY_STATUS(opened_.loop->run(opened_.store->flush()));
  const store::FlashStats flash = opened_.store->stats().flash;
  if (flash.segment_count == 0 || flash.free_segment_count <= free_segments_kept()) return {};
  const std::uint64_t segment_bytes = flash.capacity_bytes / flash.segment_count;
  const std::uint64_t room = (flash.free_segment_count - free_segments_kept()) * segment_bytes;
  granted_bytes_ = std::max(room / 2, segment_bytes);
  return {};
}

Status ImportRoom::take(std::uint64_t data_bytes) {
  if (data_bytes > data_bytes_max_) {
    return fail(Errc::kUnsupported, "a block of the file is larger than a segment of the store");
  }
  if (endless_) return {};
  const std::uint64_t bytes = footprint_bytes(data_bytes);
  if (measures_next(data_bytes)) {
    granted_bytes_ = 0;
    FOREBAY_TRY_STATUS(measure());
  }
  if (granted_bytes_ < bytes) return fail(Errc::kNoSpace, "the store is full");
  granted_bytes_ -= bytes;
  return {};
}

}  // namespace forebay::cli
