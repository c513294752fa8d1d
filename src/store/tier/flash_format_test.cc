// The expected bytes come from a Python script that packs the tables of docs/formats/flash-tier.md
// with struct and a bitwise CRC-32C; see tests/fuzz/flash_record/README.
#include "store/tier/flash_format.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/crc32c.h"
#include "store/tier/flash_checkpoint_format.h"
#include "store/tier/flash_kept_format.h"
#include "store/tier/flash_summary.h"

namespace forebay::store {
namespace {

using Page = std::vector<std::byte>;

Uuid test_uuid() {
  Uuid uuid;
  for (std::size_t i = 0; i < uuid.size(); ++i) uuid[i] = static_cast<std::byte>(i + 1);
  return uuid;
}

BlockId counted_id(std::uint8_t first) {
  BlockId id;
  for (std::size_t i = 0; i < 32; ++i) id.digest[i] = static_cast<std::byte>(first + i);
  return id;
}

std::string hex_of(const Page& page, std::size_t bytes) {
  return to_hex(std::span(page).first(bytes));
}

bool all_zero(std::span<const std::byte> bytes) {
  return std::ranges::all_of(bytes, [](std::byte b) { return b == std::byte{0}; });
}

TEST(FlashFormat, SuperblockHasItsDocumentedBytes) {
  const auto layout = make_flash_layout(64 << 20, 4096, 1 << 20).value();
  Page page(4096, std::byte{0xaa});
  encode_superblock(layout, test_uuid(), 1, page);
  EXPECT_EQ(
      hex_of(page, sizeof(Superblock)),
      "4645425941464c5301000000001000000102030405060708090a0b0c0d0e0f10000000040000000000001000"
      "000000003f000000020000000100000042000000a40000000100000000000000f185e6c6");
  EXPECT_TRUE(all_zero(std::span(page).subspan(sizeof(Superblock))));
  const auto decoded = decode_superblock(page).value();
  EXPECT_EQ(decoded.layout, layout);
  EXPECT_EQ(decoded.uuid, test_uuid());
}

TEST(FlashFormat, ASuperblockWithKeptSlotsHasItsDocumentedBytes) {
  block::Geometry geometry;
  geometry.size_bytes = 64 << 20;
  const auto layout = make_flash_layout(geometry, 1 << 20).value();
  Page page(4096, std::byte{0xaa});
  encode_superblock(layout, test_uuid(), 1, page);
  EXPECT_EQ(
      hex_of(page, sizeof(Superblock)),
      "4645425941464c5301000000001000000102030405060708090a0b0c0d0e0f100000fc030000000000001000"
      "000000003f000000020000000100000042000000a400000001000000200000008908b51d");
  EXPECT_EQ(decode_superblock(page).value().layout, layout);
}

TEST(FlashFormat, AKeptSlotHasItsDocumentedBytes) {
  const std::string_view body = "what was learned";
  Page slot(4096, std::byte{0xaa});
  std::ranges::copy(std::as_bytes(std::span(body)), slot.begin() + sizeof(KeptHeader));
  KeptHeader header;
  header.slot = 1;
  header.uuid = test_uuid();
  header.number = 77;
  header.body_bytes = static_cast<std::uint32_t>(body.size());
  encode_kept(header, slot);
  EXPECT_EQ(hex_of(slot, sizeof header + body.size()),
            "464542594b45455001000000010000000102030405060708090a0b0c0d0e0f104d00000000000000100000"
            "00bcac24e1000000003a48f7117768617420776173206c6561726e6564");
  EXPECT_TRUE(all_zero(std::span(slot).subspan(sizeof header + body.size())));
  const auto decoded = decode_kept_header(slot, header, slot.size()).value();
  EXPECT_EQ(decoded.number, 77U);
  EXPECT_TRUE(std::ranges::equal(kept_body(slot, decoded).value(), std::as_bytes(std::span(body))));
}

TEST(FlashFormat, SegmentHeaderHasItsDocumentedBytes) {
  SegmentHeader header;
  header.index = 5;
  header.uuid = test_uuid();
  header.sequence = 77;
  Page page(4096);
  encode_segment_header(header, page);
  EXPECT_EQ(hex_of(page, sizeof header),
            "464542594153454701000000050000000102030405060708090a0b0c0d0e0f104d00000000000000"
            "0100000093b7390c");
  EXPECT_EQ(decode_segment_header(page, test_uuid(), 5).value().sequence, 77U);
  EXPECT_EQ(decode_segment_header(page, test_uuid(), 6).error().code, Errc::kCorrupt);
  EXPECT_EQ(decode_segment_header(page, Uuid{}, 5).error().code, Errc::kCorrupt);
}

TEST(FlashFormat, OnlyTheMarkOfASegmentThatNeverHeldAnythingIsAFormatsMark) {
  SegmentHeader header;
  header.index = 5;
  header.uuid = test_uuid();
  header.mark = SegmentMark::kFree;
  Page page(4096);
  encode_segment_header(header, page);
  EXPECT_TRUE(is_format_mark(page));
  for (const std::size_t byte : {0U, 20U, 30U, 47U, 48U, 4095U}) {
    Page other = page;
    other[byte] ^= std::byte{1};
    EXPECT_FALSE(is_format_mark(other)) << byte;
  }
  EXPECT_FALSE(is_format_mark(std::span(page).first(sizeof header - 1)));
  EXPECT_FALSE(is_format_mark(Page(4096)));
  header.sequence = 1;  // it held something once
  encode_segment_header(header, page);
  EXPECT_FALSE(is_format_mark(page));
  header.sequence = 0;
  header.mark = SegmentMark::kOpen;
  encode_segment_header(header, page);
  EXPECT_FALSE(is_format_mark(page));
}

struct TestRecord {
  RecordPlace place{test_uuid(), 77, 1234, 0xdeadbeef, RecordKind::kBlock};
  std::string tenant = "acme";
  std::string layout = "llama";
  std::string key = "\x09\x08\x07";
  RecordFacts facts;
  TestRecord() {
    facts.id = counted_id(0);
    facts.parent = counted_id(100);
    facts.tenant = tenant;
    facts.layout_fingerprint = layout;
    facts.engine_key = std::as_bytes(std::span(key));
    facts.data_bytes = 100'000;
    facts.token_count = 16;
    facts.chain_depth = 3;
    facts.heat = 42;
  }
};

TEST(FlashFormat, RecordHeaderHasItsDocumentedBytes) {
  const TestRecord record;
  Page page(4096, std::byte{0xaa});
  encode_record_header(record.place, record.facts, page);
  EXPECT_EQ(
      hex_of(page, 148),
      "465245430100010094000000e01de5f40102030405060708090a0b0c0d0e0f104d00000000000000d2040000"
      "a0860100efbeadde10000000030000002a000000000102030405060708090a0b0c0d0e0f1011121314151617"
      "18191a1b1c1d1e1f6465666768696a6b6c6d6e6f707172737475767778797a7b7c7d7e7f8081828304000500"
      "0300000061636d656c6c616d61090807");
  EXPECT_TRUE(all_zero(std::span(page).subspan(148)));
}

TEST(FlashFormat, CheckpointHasItsDocumentedBytes) {
  CheckpointHeader header;
  header.area = 1;
  header.uuid = test_uuid();
  header.checkpoint_sequence = 9;
  header.next_segment_sequence = 10;
  header.device_written_bytes = 11;
  header.host_written_bytes = 12;
  header.wear_level_bytes = 13;
  header.open_sequence = 14;
  header.open_segment = 3;
  header.open_end_page = 99;
  header.tail = {120, 0x11223344, 2, 0, 0, 1, 0};
  Page page(4096);
  encode_checkpoint(header, page);
  EXPECT_EQ(
      hex_of(page, sizeof header),
      "4645425941434b5001000000010000000102030405060708090a0b0c0d0e0f1009000000000000000a000000"
      "000000000b000000000000000c000000000000000d000000000000000e000000000000000300000063000000"
      "780000004433221102000000000000000000000001000000000000009472dbfc");
  EXPECT_EQ(decode_checkpoint(page, test_uuid(), 1).value().open_end_page, 99U);
  EXPECT_EQ(decode_checkpoint(page, test_uuid(), 0).error().code, Errc::kCorrupt);
}

TEST(FlashFormat, HeatSlotHasItsDocumentedBytes) {
  HeatSlotHeader header;
  header.uuid = test_uuid();
  header.sequence = 77;
  header.index = 5;
  header.word_count = 3;
  Page slot(4096, std::byte{0xaa});
  const std::uint32_t words[] = {7, 8, 9};
  std::ranges::copy(std::as_bytes(std::span(words)), slot.begin() + sizeof header);
  encode_heat_slot(header, slot);
  EXPECT_EQ(
      hex_of(slot, sizeof header + 12),
      "4645425941484f540102030405060708090a0b0c0d0e0f104d0000000000000005000000030000000000000"
      "0436e1410070000000800000009000000");
  EXPECT_EQ(decode_heat_slot(slot, header).value().size(), 12U);
  header.sequence = 78;
  EXPECT_EQ(decode_heat_slot(slot, header).error().code, Errc::kCorrupt);
}

TEST(FlashFormat, FooterHasItsDocumentedBytes) {
  SummaryFooter footer;
  footer.index = 5;
  footer.uuid = test_uuid();
  footer.sequence = 77;
  footer.counts = {120, 0x11223344, 2, 0, 0, 1, 0};
  footer.body_page = 250;
  footer.data_end_page = 240;
  Page page(4096);
  encode_summary_footer(footer, page);
  EXPECT_EQ(
      hex_of(page, sizeof footer),
      "464542594153554d01000000050000000102030405060708090a0b0c0d0e0f104d0000000000000078000000"
      "443322110200000000000000000000000100000000000000fa000000f00000000000000068d2d1f200000000");
  EXPECT_EQ(decode_summary_footer(page, test_uuid(), 5).value().counts, footer.counts);
}

TEST(FlashFormat, RecordHeadersComeBackAsTheyWere) {
  EXPECT_TRUE(rc::check([] {
    const TestRecord base;
    RecordFacts facts = base.facts;
    const auto tenant = *rc::gen::container<std::string>(
        *rc::gen::inRange<std::size_t>(0, kTenantBytesMax + 1), rc::gen::arbitrary<char>());
    const auto key = *rc::gen::container<std::string>(
        *rc::gen::inRange<std::size_t>(0, kEngineKeyBytesMax + 1), rc::gen::arbitrary<char>());
    facts.tenant = tenant;
    facts.engine_key = std::as_bytes(std::span(key));
    facts.data_bytes = *rc::gen::arbitrary<std::uint32_t>();
    facts.heat = *rc::gen::arbitrary<std::uint32_t>();
    Page page(4096);
    encode_record_header(base.place, facts, page);
    const auto decoded = decode_record_header(page, base.place).value();
    RC_ASSERT(decoded.facts.id == facts.id);
    RC_ASSERT(decoded.facts.parent == facts.parent);
    RC_ASSERT(decoded.facts.tenant == tenant);
    RC_ASSERT(decoded.facts.layout_fingerprint == base.layout);
    RC_ASSERT(std::ranges::equal(decoded.facts.engine_key, facts.engine_key));
    RC_ASSERT(decoded.facts.data_bytes == facts.data_bytes);
    RC_ASSERT(decoded.facts.token_count == 16U);
    RC_ASSERT(decoded.facts.chain_depth == 3U);
    RC_ASSERT(decoded.facts.heat == facts.heat);
    RC_ASSERT(decoded.place.data_crc == base.place.data_crc);
  }));
}

// Each structure, and how many of its bytes it must prove.
TEST(FlashFormat, NoFlippedBitIsBelieved) {
  const TestRecord record;
  Page good(4096);
  encode_record_header(record.place, record.facts, good);
  for (std::size_t bit = 0; bit < 148 * 8; ++bit) {
    Page bad = good;
    bad[bit / 8] ^= static_cast<std::byte>(1 << (bit % 8));
    EXPECT_FALSE(decode_record_header(bad, record.place)) << "record bit " << bit;
  }
  encode_superblock(make_flash_layout(64 << 20, 4096, 1 << 20).value(), test_uuid(), 0, good);
  for (std::size_t bit = 0; bit < sizeof(Superblock) * 8; ++bit) {
    Page bad = good;
    bad[bit / 8] ^= static_cast<std::byte>(1 << (bit % 8));
    EXPECT_FALSE(decode_superblock(bad)) << "superblock bit " << bit;
  }
  SegmentHeader header;
  header.uuid = test_uuid();
  encode_segment_header(header, good);
  for (std::size_t bit = 0; bit < sizeof header * 8; ++bit) {
    Page bad = good;
    bad[bit / 8] ^= static_cast<std::byte>(1 << (bit % 8));
    EXPECT_FALSE(decode_segment_header(bad, test_uuid(), 0)) << "segment bit " << bit;
  }
}

TEST(FlashFormat, ARecordIsBelievedInItsOwnPlaceOnly) {
  const TestRecord record;
  Page page(4096);
  encode_record_header(record.place, record.facts, page);
  ASSERT_TRUE(decode_record_header(page, record.place));
  RecordPlace elsewhere = record.place;
  elsewhere.page = 1235;
  EXPECT_EQ(decode_record_header(page, elsewhere).error().code, Errc::kCorrupt);
  RecordPlace later = record.place;
  later.sequence = 78;
  EXPECT_EQ(decode_record_header(page, later).error().code, Errc::kCorrupt);
  RecordPlace other = record.place;
  other.uuid = Uuid{};
  EXPECT_EQ(decode_record_header(page, other).error().code, Errc::kCorrupt);
}

TEST(FlashFormat, AnotherVersionIsNamedAsSuch) {
  Page page(4096);
  encode_superblock(make_flash_layout(64 << 20, 4096, 1 << 20).value(), test_uuid(), 0, page);
  auto block = load_as<Superblock>(page);
  block.version = 2;
  block.crc = 0;
  block.crc = crc32c(bytes_of(block));
  store_as(std::span(page), block);
  EXPECT_EQ(decode_superblock(page).error().code, Errc::kVersion);
  EXPECT_EQ(decode_superblock(Page(4096)).error().code, Errc::kNotFound);
  EXPECT_EQ(decode_superblock(Page(16)).error().code, Errc::kCorrupt);
}

}  // namespace
}  // namespace forebay::store
