// The bytes of the flash tier on media, part one: superblock, segment header, record header.
//
// docs/formats/flash-tier.md is the page of this format. All fields are little-endian; every
// structure carries a magic, the store's uuid and a CRC-32C, and decode_* believes none of them
// until all agree. Pure: no I/O. Errors: kCorrupt (does not prove itself), kVersion.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/bytes.h"
#include "core/error.h"
#include "store/tier/flash_layout.h"

namespace forebay::store {

using Uuid = std::array<std::byte, 16>;

inline constexpr std::uint32_t kFlashVersion = 1;

struct Superblock {
  std::uint64_t magic = 0;
  std::uint32_t version = 0;
  std::uint32_t page_bytes = 0;
  Uuid uuid{};
  std::uint64_t device_bytes = 0;
  std::uint64_t segment_bytes = 0;
  std::uint32_t segment_count = 0;
  std::uint32_t tail_pages = 0;
  std::uint32_t slot_pages = 0;
  std::uint32_t area_pages = 0;
  std::uint32_t segments_page = 0;
  std::uint32_t copy = 0;        // 0 or 1: which of the two this is
  std::uint32_t kept_pages = 0;  // 0 in stores that were formatted before there were kept slots
  std::uint32_t crc = 0;
};
static_assert(sizeof(Superblock) == 80);

enum class SegmentMark : std::uint32_t { kOpen = 1, kFree = 2 };

struct SegmentHeader {
  std::uint64_t magic = 0;
  std::uint32_t version = 0;
  std::uint32_t index = 0;
  Uuid uuid{};
  std::uint64_t sequence = 0;  // of this life of the segment; grows over the whole store
  SegmentMark mark = SegmentMark::kOpen;
  std::uint32_t crc = 0;
};
static_assert(sizeof(SegmentHeader) == 48);

enum class RecordKind : std::uint16_t { kBlock = 1, kTombstones = 2 };

// The fixed head of a record's header page; tenant, layout and engine key follow it.
struct RecordHeader {
  std::uint32_t magic = 0;
  std::uint16_t version = 0;
  RecordKind kind = RecordKind::kBlock;
  std::uint32_t header_bytes = 0;  // this and the three names
  std::uint32_t header_crc = 0;    // over header_bytes, with this field 0
  Uuid uuid{};
  std::uint64_t sequence = 0;  // the segment's: a record of an earlier life does not match
  FlashPage page = 0;          // its own place: a misdirected write does not match
  std::uint32_t data_bytes = 0;
  std::uint32_t data_crc = 0;
  std::uint32_t token_count = 0;
  std::uint32_t chain_depth = 0;
  std::uint32_t heat = 0;
  BlockId id;
  BlockId parent;
  std::uint16_t tenant_bytes = 0;
  std::uint16_t layout_bytes = 0;
  std::uint16_t key_bytes = 0;
  std::uint16_t reserved = 0;
};
static_assert(sizeof(RecordHeader) == 136);
inline constexpr std::size_t kRecordHeaderBytesMax =
    sizeof(RecordHeader) + kTenantBytesMax + kLayoutBytesMax + kEngineKeyBytesMax;
static_assert(kRecordHeaderBytesMax <= kPageBytesMin);

// The data of a kTombstones record: a list of these. Every copy of `id` that was logged before
// (sequence, page) is dead.
struct Tombstone {
  BlockId id;
  std::uint64_t sequence = 0;
  FlashPage page = 0;
  std::uint32_t reserved = 0;
};
static_assert(sizeof(Tombstone) == 48);

// Each writes the structure at the head of `page`, with magic, version and CRC.
void encode_superblock(const FlashLayout& layout, const Uuid& uuid, std::uint32_t copy,
                       std::span<std::byte> page);
struct SuperblockFacts {
  FlashLayout layout;
  Uuid uuid{};
};
// kNotFound: no magic, so nothing was formatted here. kVersion, kCorrupt.
[[nodiscard]] Result<SuperblockFacts> decode_superblock(std::span<const std::byte> page);

void encode_segment_header(SegmentHeader header, std::span<std::byte> page);
[[nodiscard]] Result<SegmentHeader> decode_segment_header(std::span<const std::byte> page,
                                                          const Uuid& uuid, std::uint32_t index);
// Whether a page is what a format writes before its superblocks, and nothing else: the mark of a
// segment that never held anything.
[[nodiscard]] bool is_format_mark(std::span<const std::byte> page);

// What a record's place and times are; the rest is in RecordFacts.
struct RecordPlace {
  Uuid uuid{};
  std::uint64_t sequence = 0;
  FlashPage page = 0;
  std::uint32_t data_crc = 0;
  RecordKind kind = RecordKind::kBlock;
};
// The rest of `page` is zeroed: nothing of an earlier user of the buffer reaches the media.
void encode_record_header(const RecordPlace& place, const RecordFacts& facts,
                          std::span<std::byte> page);

struct DecodedRecord {
  RecordPlace place;
  RecordFacts facts;  // views into the page
};
// Proves everything but the data. The error's text says what did not match.
[[nodiscard]] Result<DecodedRecord> decode_record_header(std::span<const std::byte> page,
                                                         const RecordPlace& expected);

}  // namespace forebay::store
