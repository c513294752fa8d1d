// What the tier keeps for its owner over restarts, cuts and damage, and that none costs a block.
#include <gtest/gtest.h>

#include <algorithm>

#include "core/crc32c.h"
#include "store/tier/flash_kept_format.h"
#include "store/tier/flash_rig.h"

namespace forebay::store {
namespace {

constexpr std::uint64_t kDeviceBytes = 4 << 20;
constexpr std::size_t kBlocks = 8;

using Bytes = std::vector<std::byte>;

Bytes some(std::size_t size, std::uint64_t number) {
  Bytes bytes(size);
  rig_fill(bytes, number);
  return bytes;
}

class KeptRig : public FlashRig {
 public:
  explicit KeptRig(std::uint64_t seed = 1)
      : FlashRig({.device_bytes = kDeviceBytes, .seed = seed}) {}

  void start_with_blocks() {
    ASSERT_TRUE(open());
    (void)append(1, kBlocks, 9000);
  }
  Status keep(const Bytes& bytes) { return loop->run(tier->keep(bytes, {})); }
  // Opens again; every block must be there and right, whatever became of what was kept.
  Bytes kept_after_reopen() {
    EXPECT_TRUE(reopen());
    std::vector<std::uint64_t> all;
    for (std::uint64_t n = 1; n <= kBlocks; ++n) all.push_back(n);
    EXPECT_EQ(read(all).good, kBlocks);
    return owner->kept;
  }
  FlashLayout layout() { return make_flash_layout(device->geometry(), 0).value(); }
  std::uint64_t slot_offset(std::uint32_t slot) {
    return layout().offset_of(layout().kept_page(slot));
  }
  KeptHeader header_at(std::uint32_t slot) {
    Bytes page(4096);
    file().read(slot_offset(slot), page);
    return load_as<KeptHeader>(page);
  }
  // A header that says something else, and whose own checksum holds.
  void forge(std::uint32_t slot, KeptHeader header) {
    header.crc = 0;
    header.crc = crc32c(bytes_of(header));
    file().write(slot_offset(slot), bytes_of(header));
    file().flush();
  }
};

TEST(FlashKept, TheLastOneKeptComesBack) {
  KeptRig rig;
  rig.start_with_blocks();
  EXPECT_TRUE(rig.owner->kept.empty());
  for (std::uint64_t n = 1; n <= 3; ++n) {
    ASSERT_TRUE(rig.keep(some(1000 * n, n)));
    EXPECT_EQ(rig.kept_after_reopen(), some(1000 * n, n)) << n;
  }
  ASSERT_TRUE(rig.keep({}));
  EXPECT_EQ(rig.kept_after_reopen(), Bytes());
  EXPECT_EQ(rig.owner->kept_calls, 1);
}

// The slots take turns: the documented place, magic and number, read without the tier's code.
TEST(FlashKept, StandsWhereThePageSays) {
  KeptRig rig;
  rig.start_with_blocks();
  ASSERT_TRUE(rig.keep(some(600, 1)));
  ASSERT_TRUE(rig.keep(some(700, 2)));
  Bytes page(4096);
  rig.file().read(rig.slot_offset(0), page);
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(page.data()), 8), "FEBYKEEP");
  EXPECT_EQ(page[32], std::byte{2});
  EXPECT_EQ(load_as<std::uint32_t>(std::span(page).subspan(40)), 700U);
  EXPECT_TRUE(std::ranges::equal(std::span(page).subspan(56, 700), some(700, 2)));
  rig.file().read(rig.slot_offset(1), page);
  EXPECT_EQ(page[32], std::byte{1});
  const FlashLayout layout = rig.layout();
  EXPECT_LE(rig.slot_offset(1) + layout.kept_pages * 4096, kDeviceBytes);
  EXPECT_GE(rig.slot_offset(0),
            layout.offset_of(layout.segment_page(layout.segment_count - 1)) + layout.segment_bytes);
}

TEST(FlashKept, MoreThanASlotHoldsIsRefusedAndChangesNothing) {
  KeptRig rig;
  rig.start_with_blocks();
  const std::size_t most = rig.tier->kept_bytes_max();
  EXPECT_EQ(most, kDeviceBytes / 512 - 56);
  ASSERT_TRUE(rig.keep(some(most, 1)));
  EXPECT_EQ(rig.keep(some(most + 1, 2)).error().code, Errc::kNoSpace);
  EXPECT_EQ(rig.kept_after_reopen(), some(most, 1));
}

TEST(FlashKept, DamageLeavesTheOneBefore) {
  for (const std::uint64_t at : {0U, 9U, 20U, 33U, 41U, 45U, 54U, 56U, 1200U}) {
    KeptRig rig;
    rig.start_with_blocks();
    ASSERT_TRUE(rig.keep(some(1500, 1)));
    ASSERT_TRUE(rig.keep(some(1500, 2)));
    rig.file().corrupt(rig.slot_offset(0) + at, std::byte{0x10});
    EXPECT_EQ(rig.kept_after_reopen(), some(1500, 1)) << "byte " << at;
    // The place is used again, and the newer one rules.
    ASSERT_TRUE(rig.keep(some(800, 3)));
    EXPECT_EQ(rig.kept_after_reopen(), some(800, 3)) << "byte " << at;
    for (std::uint32_t slot = 0; slot < 2; ++slot) {
      rig.file().corrupt(rig.slot_offset(slot) + at, std::byte{0x10});
    }
    EXPECT_EQ(rig.kept_after_reopen().size(), at == 1200 ? 800U : 0U) << "byte " << at;
  }
}

TEST(FlashKept, WhatAnotherVersionKeptIsNotThere) {
  KeptRig rig;
  rig.start_with_blocks();
  ASSERT_TRUE(rig.keep(some(1500, 1)));
  KeptHeader header = rig.header_at(1);
  header.version = 2;
  rig.forge(1, header);
  EXPECT_EQ(rig.kept_after_reopen(), Bytes());
  EXPECT_EQ(rig.owner->kept_calls, 0);
  ASSERT_TRUE(rig.keep(some(900, 2)));
  EXPECT_EQ(rig.kept_after_reopen(), some(900, 2));
}

TEST(FlashKept, AHeaderThatLiesIsNotBelieved) {
  const auto lies = [](auto change) {
    KeptRig rig;
    rig.start_with_blocks();
    EXPECT_TRUE(rig.keep(some(1500, 1)));
    KeptHeader header = rig.header_at(1);
    change(header);
    rig.forge(1, header);
    return rig.kept_after_reopen().empty() && rig.owner->kept_calls == 0;
  };
  EXPECT_TRUE(lies([](KeptHeader& header) { header.body_bytes = ~0U; }));
  EXPECT_TRUE(lies([](KeptHeader& header) { header.body_bytes = 1499; }));
  EXPECT_TRUE(lies([](KeptHeader& header) { header.slot = 0; }));
  EXPECT_TRUE(lies([](KeptHeader& header) { header.uuid[3] ^= std::byte{1}; }));
  EXPECT_TRUE(lies([](KeptHeader& header) { header.number = ~std::uint64_t{0}; }));
  EXPECT_FALSE(lies([](KeptHeader& header) { header.number = 77; }));
}

TEST(FlashKept, ADeviceThatCannotReadItOpensWithoutIt) {
  KeptRig rig;
  rig.start_with_blocks();
  ASSERT_TRUE(rig.keep(some(1500, 1)));
  const std::uint64_t from = rig.slot_offset(0);
  rig.power_off();
  rig.power_on();
  rig.engine->faults().add({.kind = io::FaultKind::kIoError, .offset_first = from});
  ASSERT_TRUE(rig.open());
  EXPECT_EQ(rig.owner->kept_calls, 0);
  EXPECT_EQ(rig.owner->known.size(), kBlocks);
}

// As stores were formatted before there were kept slots: all of the device in segments, the word
// of the superblock 0. An empty segment needs no mark.
TEST(FlashKept, AStoreFormattedWithoutRoomOpensAndWorks) {
  KeptRig rig;
  const FlashLayout old = make_flash_layout(kDeviceBytes, 4096, 64 << 10).value();
  ASSERT_EQ(old.kept_pages, 0U);
  Uuid uuid{std::byte{9}};
  rig.file().write(0, Bytes(kDeviceBytes));
  for (std::uint32_t copy = 0; copy < 2; ++copy) {
    Bytes page(4096);
    encode_superblock(old, uuid, copy, page);
    rig.file().write(kSuperblockOffsets[copy], page);
  }
  rig.file().flush();
  rig.options().flash.format = false;
  rig.start_with_blocks();
  EXPECT_EQ(rig.tier->stats().segment_count, old.segment_count);
  EXPECT_EQ(rig.tier->kept_bytes_max(), 0U);
  EXPECT_EQ(rig.keep(some(10, 1)).error().code, Errc::kUnsupported);
  ASSERT_TRUE(rig.loop->run(rig.tier->close()));
  EXPECT_EQ(rig.kept_after_reopen(), Bytes());
}

// Whoever knows nothing of kept slots reads a superblock of now as one of a device that ends before
// them, which is how stores were always read.
TEST(FlashKept, AReaderOfBeforeTakesTheStoreAsItIs) {
  for (const std::uint64_t size : {kDeviceBytes, std::uint64_t{1} << 30, std::uint64_t{5} << 40}) {
    block::Geometry geometry;
    geometry.size_bytes = size;
    FlashLayout layout = make_flash_layout(geometry, 0).value();
    EXPECT_GT(layout.kept_pages, 0U);
    EXPECT_LE(layout.kept_pages * std::uint64_t{layout.page_bytes}, kKeptSlotBytesMax);
    EXPECT_LE(layout.offset_of(layout.kept_page(0) + 2 * layout.kept_pages), size);
    layout.kept_pages = 0;
    EXPECT_EQ(make_flash_layout(layout.device_bytes, layout.page_bytes, layout.segment_bytes),
              layout);
  }
}

TEST(FlashKept, ADeviceThatLostItsEndKeepsItsBlocks) {
  KeptRig rig;
  rig.start_with_blocks();
  ASSERT_TRUE(rig.keep(some(1500, 1)));
  FlashLayout layout = rig.layout();
  Bytes page(4096);
  layout.kept_pages += 400;  // beyond the device's end
  for (std::uint32_t copy = 0; copy < 2; ++copy) {
    rig.file().read(kSuperblockOffsets[copy], page);
    const Uuid uuid = load_as<Superblock>(page).uuid;
    encode_superblock(layout, uuid, copy, page);
    rig.file().write(kSuperblockOffsets[copy], page);
  }
  rig.file().flush();
  EXPECT_EQ(rig.kept_after_reopen(), Bytes());
  EXPECT_EQ(rig.tier->kept_bytes_max(), 0U);
}

// A writing that is cut, at any of its writes and torn in any way, leaves the one before or itself.
TEST(FlashKept, APowerCutLeavesTheOneBeforeOrTheNewOne) {
  std::size_t cuts = 0;
  std::size_t left_before = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    KeptRig rig(seed);
    rig.start_with_blocks();
    ASSERT_TRUE(rig.keep(some(5000, 1)));
    ASSERT_TRUE(rig.keep(some(6000, 2)));
    rig.cut_power_after_writes(rig.writes_started() + seed % 3);
    const Status kept = rig.keep(some(7000, 3));
    cuts += !kept;
    rig.power_off();
    rig.cut_power_after_writes(~std::uint64_t{0});
    rig.power_on();
    const Bytes after = rig.kept_after_reopen();
    if (kept) {
      EXPECT_EQ(after, some(7000, 3));
    } else {
      EXPECT_TRUE(after == some(6000, 2) || after == some(7000, 3));
      left_before += after == some(6000, 2);
    }
  }
  EXPECT_EQ(cuts, 20U);
  EXPECT_GT(left_before, 5U);
}

}  // namespace
}  // namespace forebay::store
