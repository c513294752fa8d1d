#include "store/tier/flash_layout.h"

#include <algorithm>
#include <bit>

#include "core/bytes.h"
#include "store/tier/flash_checkpoint_format.h"
#include "store/tier/flash_summary.h"

namespace forebay::store {
namespace {

// About 64 segments on a small device; on a large one segments stop growing at 2 GiB, which makes
// 10 TB some 4,700 of them.
std::uint64_t choose_segment_bytes(std::uint64_t device_bytes) {
  const std::uint64_t wanted = std::bit_floor(std::max<std::uint64_t>(device_bytes / 64, 1));
  return std::clamp(wanted, kSegmentBytesMin, kSegmentBytesMax);
}

std::uint32_t choose_page_bytes(std::uint64_t device_bytes, std::uint32_t align_bytes) {
  std::uint32_t page =
      std::max(kPageBytesMin, std::bit_ceil(std::clamp(align_bytes, 1U, 1U << 30)));
  while (page <= kPageBytesMax && device_bytes / page >= ~std::uint32_t{0}) page *= 2;
  return page;
}

// A fifth of a percent of a small device for each kept slot, 2.5 MiB of one from 1.25 GiB on.
std::uint32_t choose_kept_pages(std::uint64_t device_bytes, std::uint32_t page_bytes) {
  const std::uint64_t bytes = std::min(device_bytes / 512, kKeptSlotBytesMax);
  return static_cast<std::uint32_t>(std::max<std::uint64_t>(bytes / page_bytes, 1));
}

}  // namespace

std::uint64_t FlashLayout::data_bytes_max() const {
  // An empty segment gives up its header, the footer and a one-record summary.
  constexpr std::uint64_t kSummaryBytes = 4096;
  const std::uint64_t taken = 3 * std::uint64_t{page_bytes} + round_up(kSummaryBytes, page_bytes);
  const std::uint64_t in_segment = segment_bytes > taken ? segment_bytes - taken : 0;
  return std::min(in_segment, kRecordDataBytesMax);
}

Result<FlashLayout> make_flash_layout(std::uint64_t device_bytes, std::uint32_t page_bytes,
                                      std::uint64_t segment_bytes) {
  if (!std::has_single_bit(page_bytes) || page_bytes < kPageBytesMin ||
      page_bytes > kPageBytesMax || device_bytes / page_bytes >= ~std::uint32_t{0}) {
    return fail(Errc::kUnsupported, "flash: page size does not fit the device");
  }
  if (segment_bytes % page_bytes != 0 || segment_bytes < kSegmentBytesMin ||
      segment_bytes < std::uint64_t{16} * page_bytes || segment_bytes > 4 * kSegmentBytesMax) {
    return fail(Errc::kInvalid, "flash: segment size is out of range");
  }
  FlashLayout layout;
  layout.page_bytes = page_bytes;
  layout.device_bytes = device_bytes;
  layout.segment_bytes = segment_bytes;
  const std::uint64_t words = layout.segment_pages() / kPagesPerHeatWord + 1;
  layout.slot_pages =
      static_cast<std::uint32_t>(divide_up(sizeof(HeatSlotHeader) + words * 4, page_bytes));
  layout.tail_pages =
      static_cast<std::uint32_t>(divide_up(words * sizeof(SummaryEntry) + 4096, page_bytes));
  const std::uint64_t fixed_pages =
      kSuperblockAreaBytes / page_bytes + 2 * (std::uint64_t{1} + layout.tail_pages);
  const std::uint64_t device_pages = device_bytes / page_bytes;
  const std::uint64_t each_pages = layout.segment_pages() + 2 * std::uint64_t{layout.slot_pages};
  const std::uint64_t count =
      device_pages > fixed_pages ? (device_pages - fixed_pages) / each_pages : 0;
  if (count < kSegmentsMin) {
    return fail(Errc::kNoSpace, "flash: the device is too small for eight segments");
  }
  layout.segment_count = static_cast<std::uint32_t>(count);
  layout.area_pages = 1 + layout.tail_pages + layout.segment_count * layout.slot_pages;
  layout.segments_page =
      static_cast<std::uint32_t>(kSuperblockAreaBytes / page_bytes) + 2 * layout.area_pages;
  return layout;
}

Result<FlashLayout> make_flash_layout(const block::Geometry& geometry,
                                      std::uint64_t segment_bytes) {
  const std::uint32_t page_bytes = choose_page_bytes(geometry.size_bytes, geometry.align_bytes);
  if (page_bytes > kPageBytesMax) {
    return fail(Errc::kUnsupported, "flash: the device's alignment or size is too large");
  }
  if (segment_bytes == 0) {
    segment_bytes =
        std::max(choose_segment_bytes(geometry.size_bytes), std::uint64_t{16} * page_bytes);
  }
  segment_bytes = round_down(segment_bytes, page_bytes);
  FOREBAY_TRY(whole, make_flash_layout(geometry.size_bytes, page_bytes, segment_bytes));
  const std::uint32_t kept_pages = choose_kept_pages(geometry.size_bytes, page_bytes);
  auto layout = make_flash_layout(geometry.size_bytes - std::uint64_t{2} * kept_pages * page_bytes,
                                  page_bytes, segment_bytes);
  if (!layout) return whole;
  layout->kept_pages = kept_pages;
  return layout;
}

std::uint64_t block_bytes_max(const block::Geometry& geometry) {
  const auto layout = make_flash_layout(geometry, 0);
  return layout ? layout->data_bytes_max() : 0;
}

}  // namespace forebay::store
