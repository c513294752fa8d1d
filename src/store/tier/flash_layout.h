// Where things stand on a flash device: superblocks, two checkpoint areas, segments. Pure numbers.
//
//   0        128 KiB                                        segments_page
//   | super  | area A: header, tail summary, heat slots | area B | segment 0 | ... | kept | kept |
//
// Units: bytes, or pages of page_bytes; a page number fits 32 bits on any device, because
// page_bytes grows with it. Computed once at format, kept in the superblock, checked when read
// back.
#pragma once

#include <cstdint>

#include "block/device.h"
#include "core/error.h"
#include "store/tier/flash.h"

namespace forebay::store {

// Two superblocks, so that no single bad sector loses the store. Their places do not depend on
// anything that a superblock says.
inline constexpr std::uint64_t kSuperblockOffsets[2] = {0, 64 * 1024};
inline constexpr std::uint64_t kSuperblockAreaBytes = 128 * 1024;
inline constexpr std::uint32_t kPageBytesMin = 4096;
inline constexpr std::uint32_t kPageBytesMax = 64 * 1024;
inline constexpr std::uint64_t kSegmentBytesMin = 64 * 1024;
inline constexpr std::uint64_t kSegmentBytesMax = std::uint64_t{2} << 30;
inline constexpr std::uint32_t kSegmentsMin = 8;
// One heat word for each 9 pages of a segment: every record of 32 KiB and more has one. Smaller
// records beyond that keep the heat that their summary holds.
inline constexpr std::uint32_t kPagesPerHeatWord = 9;
// A record's data, at most; with its header, which is one page, also how far a scan looks past
// bytes that prove nothing.
inline constexpr std::uint64_t kRecordDataBytesMax = std::uint64_t{64} << 20;
inline constexpr std::uint64_t kRecordBytesMax = kRecordDataBytesMax + kPageBytesMax;
// The most that a slot for the owner's bytes has room for, its header included.
inline constexpr std::uint64_t kKeptSlotBytesMax = std::uint64_t{2560} << 10;

struct FlashLayout {
  std::uint32_t page_bytes = 0;
  std::uint64_t device_bytes = 0;  // what the layout is computed from: the two kept slots apart
  std::uint64_t segment_bytes = 0;
  std::uint32_t segment_count = 0;
  std::uint32_t tail_pages = 0;     // of an area: room for the open segment's summary
  std::uint32_t slot_pages = 0;     // of one segment's heat
  std::uint32_t area_pages = 0;     // one checkpoint area
  std::uint32_t segments_page = 0;  // where segment 0 begins
  std::uint32_t kept_pages = 0;     // each of two slots for the owner's bytes; 0: there are none

  friend bool operator==(const FlashLayout&, const FlashLayout&) = default;

  [[nodiscard]] std::uint32_t segment_pages() const {
    return static_cast<std::uint32_t>(segment_bytes / page_bytes);
  }
  [[nodiscard]] std::uint64_t offset_of(FlashPage page) const {
    return std::uint64_t{page} * page_bytes;
  }
  [[nodiscard]] FlashPage segment_page(std::uint32_t segment) const {
    return segments_page + segment * segment_pages();
  }
  // Whether a page lies in a segment at all; segment_of() needs that.
  [[nodiscard]] bool in_segments(FlashPage page) const {
    return page >= segments_page && (page - segments_page) / segment_pages() < segment_count;
  }
  [[nodiscard]] std::uint32_t segment_of(FlashPage page) const {
    return (page - segments_page) / segment_pages();
  }
  [[nodiscard]] FlashPage area_page(std::uint32_t area) const {
    return static_cast<FlashPage>(kSuperblockAreaBytes / page_bytes) + area * area_pages;
  }
  [[nodiscard]] FlashPage slot_page(std::uint32_t area, std::uint32_t segment) const {
    return area_page(area) + 1 + tail_pages + segment * slot_pages;
  }
  // Behind the last segment.
  [[nodiscard]] FlashPage kept_page(std::uint32_t slot) const {
    return segments_page + segment_count * segment_pages() + slot * kept_pages;
  }
  // Of a record: header page and data, padded.
  [[nodiscard]] std::uint32_t record_pages(std::uint64_t data_bytes) const {
    return 1 + static_cast<std::uint32_t>((data_bytes + page_bytes - 1) / page_bytes);
  }
  // Of the device that a store of this layout was made on.
  [[nodiscard]] std::uint64_t made_bytes() const {
    return device_bytes + std::uint64_t{2} * kept_pages * page_bytes;
  }
  // The largest data_bytes that a record of this store can hold.
  [[nodiscard]] std::uint64_t data_bytes_max() const;
};

// kNoSpace: the device is too small for kSegmentsMin segments. kUnsupported: its alignment is
// beyond kPageBytesMax. `segment_bytes` 0 chooses by size. Leaves room for the kept slots, where
// eight segments remain.
[[nodiscard]] Result<FlashLayout> make_flash_layout(const block::Geometry& geometry,
                                                    std::uint64_t segment_bytes);
// The same for known sizes; used to check what a superblock claims.
[[nodiscard]] Result<FlashLayout> make_flash_layout(std::uint64_t device_bytes,
                                                    std::uint32_t page_bytes,
                                                    std::uint64_t segment_bytes);
// The largest block of a store that would be formatted on the device; 0: it is too small for any.
[[nodiscard]] std::uint64_t block_bytes_max(const block::Geometry& geometry);

}  // namespace forebay::store
