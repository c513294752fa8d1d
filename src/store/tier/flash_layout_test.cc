#include "store/tier/flash_layout.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "core/bytes.h"

namespace forebay::store {
namespace {

block::Geometry geometry_of(std::uint64_t size_bytes, std::uint32_t align_bytes = 4096) {
  block::Geometry geometry;
  geometry.size_bytes = size_bytes;
  geometry.align_bytes = align_bytes;
  return geometry;
}

TEST(FlashLayout, TenTerabytesAreAFewThousandSegments) {
  const auto layout = make_flash_layout(geometry_of(10'000'000'000'000), 0).value();
  EXPECT_EQ(layout.segment_bytes, 2 * kGiB);
  EXPECT_GE(layout.segment_count, 4000U);
  EXPECT_LE(layout.segment_count, 5000U);
  // Headers, heat and spare room: less than half a percent of the device.
  EXPECT_GT(layout.segment_bytes * layout.segment_count, 9'950'000'000'000U);
}

TEST(FlashLayout, SmallDevicesStillHaveManySegments) {
  EXPECT_GE(make_flash_layout(geometry_of(kGiB), 0).value().segment_count, 32U);
  EXPECT_GE(make_flash_layout(geometry_of(4 * kMiB), 0).value().segment_count, 16U);
}

TEST(FlashLayout, ADeviceTooSmallForEightSegmentsIsRefused) {
  EXPECT_EQ(make_flash_layout(geometry_of(256 * kKiB), 0).error().code, Errc::kNoSpace);
  EXPECT_EQ(make_flash_layout(geometry_of(0), 0).error().code, Errc::kNoSpace);
  EXPECT_EQ(make_flash_layout(geometry_of(64 * kMiB), 16 * kMiB).error().code, Errc::kNoSpace);
}

TEST(FlashLayout, AlignmentBeyondAPageIsRefused) {
  EXPECT_EQ(make_flash_layout(geometry_of(kGiB, 128 << 10), 0).error().code, Errc::kUnsupported);
  EXPECT_EQ(make_flash_layout(geometry_of(kGiB, ~0U), 0).error().code, Errc::kUnsupported);
  EXPECT_EQ(make_flash_layout(geometry_of(kGiB, 16 << 10), 0).value().page_bytes, 16U << 10);
}

TEST(FlashLayout, SegmentSizesOutOfRangeAreRefused) {
  EXPECT_EQ(make_flash_layout(geometry_of(kGiB), 4096).error().code, Errc::kInvalid);
  EXPECT_EQ(make_flash_layout(geometry_of(64 * kTiB), 32 * kGiB).error().code, Errc::kInvalid);
}

TEST(FlashLayout, EverythingHasItsOwnPlaceOnTheDevice) {
  EXPECT_TRUE(rc::check([] {
    const auto size = *rc::gen::inRange<std::uint64_t>(2 * kMiB, 200 * kTiB);
    const auto align = 1U << *rc::gen::inRange(9, 17);
    const auto made = make_flash_layout(geometry_of(size, align), 0);
    RC_PRE(made.has_value());
    const FlashLayout& layout = *made;
    RC_ASSERT(layout.page_bytes % align == 0U);
    RC_ASSERT(size / layout.page_bytes < ~std::uint32_t{0});
    RC_ASSERT(layout.offset_of(layout.area_page(0)) >= kSuperblockAreaBytes);
    RC_ASSERT(layout.area_page(1) >=
              layout.slot_page(0, layout.segment_count - 1) + layout.slot_pages);
    RC_ASSERT(layout.segments_page >=
              layout.slot_page(1, layout.segment_count - 1) + layout.slot_pages);
    const FlashPage last = layout.segment_page(layout.segment_count - 1);
    RC_ASSERT(layout.offset_of(last) + layout.segment_bytes <=
              layout.offset_of(layout.kept_page(0)));
    RC_ASSERT(layout.offset_of(layout.kept_page(0) + 2 * layout.kept_pages) <= size);
    RC_ASSERT(layout.in_segments(last + layout.segment_pages() - 1));
    RC_ASSERT(!layout.in_segments(layout.segments_page - 1));
    RC_ASSERT(layout.segment_of(last) == layout.segment_count - 1);
    // What format computed is what a superblock with these numbers gives.
    FlashLayout read =
        make_flash_layout(layout.device_bytes, layout.page_bytes, layout.segment_bytes).value();
    read.kept_pages = layout.kept_pages;
    RC_ASSERT(read == layout);
  }));
}

TEST(FlashLayout, TheLargestRecordFitsAnEmptySegment) {
  for (const std::uint64_t size : {4 * kMiB, kGiB, kTiB}) {
    const auto layout = make_flash_layout(geometry_of(size), 0).value();
    EXPECT_LE(std::uint64_t{1} + layout.record_pages(layout.data_bytes_max()) + 2,
              layout.segment_pages());
  }
}

TEST(FlashLayout, ALargeDeviceTakesTheLargestBlock) {
  EXPECT_EQ(block_bytes_max(geometry_of(kTiB)), 64 * kMiB);
}

}  // namespace
}  // namespace forebay::store
