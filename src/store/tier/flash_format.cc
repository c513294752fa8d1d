#include "store/tier/flash_format.h"

#include <algorithm>
#include <cstring>

#include "core/check.h"
#include "core/crc32c.h"

namespace forebay::store {
namespace {

constexpr std::uint64_t kSuperblockMagic = 0x534c464159424546ULL;  // "FEBYAFLS"
constexpr std::uint64_t kSegmentMagic = 0x4745534159424546ULL;     // "FEBYASEG"
constexpr std::uint32_t kRecordMagic = 0x43455246;                 // "FREC"

template <class T>
void seal_and_store(T value, std::span<std::byte> page) {
  FOREBAY_CHECK_LE(sizeof(T), page.size());
  value.crc = 0;
  value.crc = crc32c(bytes_of(value));
  store_as(page, value);
}

template <class T>
bool crc_holds(T value) {
  const std::uint32_t said = value.crc;
  value.crc = 0;
  return crc32c(bytes_of(value)) == said;
}

// The CRC of a record header is taken as if its own field were 0, in two pieces around it.
std::uint32_t header_crc(std::span<const std::byte> header) {
  constexpr std::size_t kAt = offsetof(RecordHeader, header_crc);
  constexpr std::array<std::byte, 4> kZero{};
  const std::uint32_t before = crc32c(header.first(kAt));
  return crc32c(header.subspan(kAt + 4), crc32c(kZero, before));
}

std::span<std::byte> put_bytes(std::span<std::byte> at, std::span<const std::byte> bytes) {
  if (!bytes.empty()) std::memcpy(at.data(), bytes.data(), bytes.size());
  return at.subspan(bytes.size());
}

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Status check_identity(const RecordHeader& header, const RecordPlace& expected) {
  if (header.magic != kRecordMagic) return fail(Errc::kCorrupt, "record header: no magic");
  if (header.version != kFlashVersion) return fail(Errc::kVersion, "record header: version");
  if (header.header_bytes < sizeof(RecordHeader) || header.header_bytes > kRecordHeaderBytesMax) {
    return fail(Errc::kCorrupt, "record header: impossible length");
  }
  if (header.uuid != expected.uuid) return fail(Errc::kCorrupt, "record header: another store");
  if (header.sequence != expected.sequence) {
    return fail(Errc::kCorrupt, "record header: another generation of the segment");
  }
  if (header.page != expected.page) {
    return fail(Errc::kCorrupt, "record header: written for another place");
  }
  return {};
}

}  // namespace

void encode_superblock(const FlashLayout& layout, const Uuid& uuid, std::uint32_t copy,
                       std::span<std::byte> page) {
  std::ranges::fill(page, std::byte{0});
  Superblock block;
  block.magic = kSuperblockMagic;
  block.version = kFlashVersion;
  block.page_bytes = layout.page_bytes;
  block.uuid = uuid;
  block.device_bytes = layout.device_bytes;
  block.segment_bytes = layout.segment_bytes;
  block.segment_count = layout.segment_count;
  block.tail_pages = layout.tail_pages;
  block.slot_pages = layout.slot_pages;
  block.area_pages = layout.area_pages;
  block.segments_page = layout.segments_page;
  block.copy = copy;
  block.kept_pages = layout.kept_pages;
  seal_and_store(block, page);
}

Result<SuperblockFacts> decode_superblock(std::span<const std::byte> page) {
  if (page.size() < sizeof(Superblock)) return fail(Errc::kCorrupt, "superblock: too short");
  const auto block = load_as<Superblock>(page);
  if (block.magic != kSuperblockMagic) return fail(Errc::kNotFound, "superblock: no magic");
  if (!crc_holds(block)) return fail(Errc::kCorrupt, "superblock: checksum");
  if (block.version != kFlashVersion) return fail(Errc::kVersion, "superblock: version");
  FOREBAY_TRY(layout, make_flash_layout(block.device_bytes, block.page_bytes, block.segment_bytes));
  if (layout.segment_count != block.segment_count || layout.tail_pages != block.tail_pages ||
      layout.slot_pages != block.slot_pages || layout.area_pages != block.area_pages ||
      layout.segments_page != block.segments_page) {
    return fail(Errc::kCorrupt, "superblock: its numbers contradict each other");
  }
  // A number that this reader cannot make sense of costs what was kept, not the store.
  const std::uint64_t kept_bytes = std::uint64_t{block.kept_pages} * block.page_bytes;
  if (kept_bytes <= kKeptSlotBytesMax) layout.kept_pages = block.kept_pages;
  return SuperblockFacts{layout, block.uuid};
}

void encode_segment_header(SegmentHeader header, std::span<std::byte> page) {
  std::ranges::fill(page, std::byte{0});
  header.magic = kSegmentMagic;
  header.version = kFlashVersion;
  seal_and_store(header, page);
}

Result<SegmentHeader> decode_segment_header(std::span<const std::byte> page, const Uuid& uuid,
                                            std::uint32_t index) {
  if (page.size() < sizeof(SegmentHeader)) return fail(Errc::kCorrupt, "segment header: short");
  const auto header = load_as<SegmentHeader>(page);
  if (header.magic != kSegmentMagic) return fail(Errc::kCorrupt, "segment header: no magic");
  if (!crc_holds(header)) return fail(Errc::kCorrupt, "segment header: checksum");
  if (header.version != kFlashVersion) return fail(Errc::kVersion, "segment header: version");
  if (header.uuid != uuid) return fail(Errc::kCorrupt, "segment header: another store");
  if (header.index != index) return fail(Errc::kCorrupt, "segment header: another place");
  if (header.mark != SegmentMark::kOpen && header.mark != SegmentMark::kFree) {
    return fail(Errc::kCorrupt, "segment header: unknown mark");
  }
  return header;
}

bool is_format_mark(std::span<const std::byte> page) {
  if (page.size() < sizeof(SegmentHeader)) return false;
  const auto written = load_as<SegmentHeader>(page);
  const auto header = decode_segment_header(page, written.uuid, written.index);
  return header && header->mark == SegmentMark::kFree && header->sequence == 0 &&
         std::ranges::all_of(page.subspan(sizeof(SegmentHeader)),
                             [](std::byte byte) { return byte == std::byte{0}; });
}

void encode_record_header(const RecordPlace& place, const RecordFacts& facts,
                          std::span<std::byte> page) {
  RecordHeader header;
  header.magic = kRecordMagic;
  header.version = kFlashVersion;
  header.kind = place.kind;
  header.header_bytes =
      static_cast<std::uint32_t>(sizeof(RecordHeader) + facts.tenant.size() +
                                 facts.layout_fingerprint.size() + facts.engine_key.size());
  FOREBAY_CHECK_LE(header.header_bytes, page.size());
  header.uuid = place.uuid;
  header.sequence = place.sequence;
  header.page = place.page;
  header.data_bytes = facts.data_bytes;
  header.data_crc = place.data_crc;
  header.token_count = facts.token_count;
  header.chain_depth = facts.chain_depth;
  header.heat = facts.heat;
  header.id = facts.id;
  header.parent = facts.parent;
  header.tenant_bytes = static_cast<std::uint16_t>(facts.tenant.size());
  header.layout_bytes = static_cast<std::uint16_t>(facts.layout_fingerprint.size());
  header.key_bytes = static_cast<std::uint16_t>(facts.engine_key.size());
  std::span<std::byte> at = put_bytes(page, bytes_of(header));
  at = put_bytes(at, std::as_bytes(std::span(facts.tenant)));
  at = put_bytes(at, std::as_bytes(std::span(facts.layout_fingerprint)));
  at = put_bytes(at, facts.engine_key);
  std::ranges::fill(at, std::byte{0});
  const std::uint32_t crc = header_crc(page.first(header.header_bytes));
  store_as(page.subspan(offsetof(RecordHeader, header_crc)), crc);
}

Result<DecodedRecord> decode_record_header(std::span<const std::byte> page,
                                           const RecordPlace& expected) {
  if (page.size() < kPageBytesMin) return fail(Errc::kCorrupt, "record header: too short");
  const auto header = load_as<RecordHeader>(page);
  FOREBAY_TRY_STATUS(check_identity(header, expected));
  if (header_crc(page.first(header.header_bytes)) != header.header_crc) {
    return fail(Errc::kCorrupt, "record header: checksum");
  }
  const std::size_t names =
      std::size_t{header.tenant_bytes} + header.layout_bytes + header.key_bytes;
  if (sizeof(RecordHeader) + names != header.header_bytes ||
      header.tenant_bytes > kTenantBytesMax || header.layout_bytes > kLayoutBytesMax ||
      header.key_bytes > kEngineKeyBytesMax) {
    return fail(Errc::kCorrupt, "record header: names do not fit");
  }
  if (header.kind != RecordKind::kBlock && header.kind != RecordKind::kTombstones) {
    return fail(Errc::kCorrupt, "record header: unknown kind");
  }
  DecodedRecord record;
  record.place = {header.uuid, header.sequence, header.page, header.data_crc, header.kind};
  RecordFacts& facts = record.facts;
  facts.id = header.id;
  facts.parent = header.parent;
  std::span<const std::byte> at = page.subspan(sizeof(RecordHeader));
  facts.tenant = text_of(at.first(header.tenant_bytes));
  at = at.subspan(header.tenant_bytes);
  facts.layout_fingerprint = text_of(at.first(header.layout_bytes));
  at = at.subspan(header.layout_bytes);
  facts.engine_key = at.first(header.key_bytes);
  facts.data_bytes = header.data_bytes;
  facts.token_count = header.token_count;
  facts.chain_depth = header.chain_depth;
  facts.heat = header.heat;
  return record;
}

}  // namespace forebay::store
