#include "cli/store_size.h"

#include "core/bytes.h"
#include "store/store.h"
#include "store/tier/flash_layout.h"

namespace forebay::cli {
namespace {

constexpr std::uint64_t kPageBytes = store::kPageBytesMin;
constexpr std::uint64_t kLargestStoreBytes = std::uint64_t{1} << 50;
// A record's entry in its segment's summary, names included.
constexpr std::uint64_t kSummaryShareBytes = 512;

block::Geometry file_of(std::uint64_t size_bytes) {
  block::Geometry geometry;
  geometry.size_bytes = size_bytes;
  geometry.align_bytes = static_cast<std::uint32_t>(kPageBytes);
  return geometry;
}

// Of a segment, what records may take: not its header, footer and the least of a summary.
std::uint64_t room_bytes(const store::FlashLayout& layout) {
  return layout.data_bytes_max() + kPageBytes;
}

std::uint64_t usable_segments(const store::FlashLayout& layout) {
  const std::uint64_t kept = free_segments_kept();
  return layout.segment_count > kept ? layout.segment_count - kept : 0;
}

}  // namespace

std::uint64_t footprint_bytes(std::uint64_t data_bytes) {
  return kPageBytes + round_up(data_bytes, kPageBytes);
}

std::uint64_t free_segments_kept() {
  // One more may be half full.
  return store::FlashOptions{}.free_segments_low + std::uint64_t{1};
}

std::uint64_t smallest_store_bytes() {
  std::uint64_t size = kPageBytes;
  while (store::block_bytes_max(file_of(size)) == 0) size += kPageBytes;
  return size;
}

std::uint64_t blocks_held(std::uint64_t store_bytes, std::uint64_t data_bytes) {
  const auto layout = store::make_flash_layout(file_of(store_bytes), 0);
  if (!layout || layout->data_bytes_max() < data_bytes) return 0;
  return usable_segments(*layout) * (room_bytes(*layout) / footprint_bytes(data_bytes));
}

void StoreNeed::add(std::uint64_t data_bytes) {
  footprint_bytes_ += footprint_bytes(data_bytes) + kSummaryShareBytes;
  data_bytes_max_ = std::max(data_bytes_max_, data_bytes);
}

bool StoreNeed::fits(std::uint64_t store_bytes) const {
  const auto layout = store::make_flash_layout(file_of(store_bytes), 0);
  if (!layout || layout->data_bytes_max() < data_bytes_max_) return false;
  // The largest block may not fit what is left of a segment, which then stays empty.
  const std::uint64_t largest = footprint_bytes(data_bytes_max_) + kSummaryShareBytes;
  const std::uint64_t room = room_bytes(*layout);
  const std::uint64_t filled = std::max(room > largest ? room - largest : 0, largest);
  return usable_segments(*layout) * filled >= footprint_bytes_;
}

std::uint64_t StoreNeed::store_bytes() const {
  std::uint64_t size = kMiB;
  while (size < kLargestStoreBytes) {
    if (fits(size)) return size;
    size += std::max(kMiB, round_down(size / 64, kMiB));  // meets each power of two
  }
  return 0;
}

}  // namespace forebay::cli
