#include "store/export_format.h"

#include <algorithm>

#include "core/bytes.h"
#include "core/crc32c.h"
#include "store/store.h"

namespace forebay::store {
namespace {

constexpr std::array<char, 8> kHeaderMagic{'F', 'E', 'B', 'Y', 'A', 'E', 'X', 'P'};
constexpr std::uint32_t kRecordMagic = 0x4b4c4258;   // "XBLK"
constexpr std::uint32_t kTrailerMagic = 0x444e4558;  // "XEND"

std::uint32_t crc_of(ExportHeader header) {
  header.crc = 0;
  return crc32c(bytes_of(header));
}

std::uint32_t crc_of(ExportTrailer trailer) {
  trailer.crc = 0;
  return crc32c(bytes_of(trailer));
}

std::uint32_t crc_of(ExportRecord record, std::span<const std::byte> names) {
  record.header_crc = 0;
  return crc32c(names, crc32c(bytes_of(record)));
}

void append(std::vector<std::byte>& out, std::span<const std::byte> bytes) {
  out.insert(out.end(), bytes.begin(), bytes.end());
}

std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

ExportHeader make_export_header() {
  ExportHeader header;
  header.magic = kHeaderMagic;
  header.version = kExportVersion;
  header.crc = crc_of(header);
  return header;
}

Status check_export_header(const ExportHeader& header) {
  if (header.magic != kHeaderMagic) return fail(Errc::kCorrupt, "not an export of a store");
  if (header.version != kExportVersion) return fail(Errc::kVersion, "an export of another version");
  if (header.crc != crc_of(header)) return fail(Errc::kCorrupt, "header: checksum");
  return {};
}

Result<std::vector<std::byte>> encode_export_record(ExportRecord record, const ExportNames& names) {
  const KeySpace& space = names.space;
  if (space.tenant.size() > kTenantBytesMax || space.layout_fingerprint.size() > kLayoutBytesMax ||
      names.engine_key.size() > kEngineKeyBytesMax) {
    return fail(Errc::kInvalid, "a name is too long");
  }
  record.magic = kRecordMagic;
  record.tenant_bytes = static_cast<std::uint16_t>(space.tenant.size());
  record.layout_bytes = static_cast<std::uint16_t>(space.layout_fingerprint.size());
  record.key_bytes = static_cast<std::uint16_t>(names.engine_key.size());
  record.reserved = 0;
  record.id = make_block_id(space, names.engine_key);
  FOREBAY_TRY_STATUS(check_export_record(record));
  std::vector<std::byte> out(sizeof record);
  append(out, std::as_bytes(std::span(space.tenant)));
  append(out, std::as_bytes(std::span(space.layout_fingerprint)));
  append(out, names.engine_key);
  record.header_crc = crc_of(record, std::span(out).subspan(sizeof record));
  store_as(out, record);
  return out;
}

Status check_export_record(const ExportRecord& record) {
  if (record.magic != kRecordMagic) return fail(Errc::kCorrupt, "record: magic");
  if (record.tenant_bytes > kTenantBytesMax || record.layout_bytes > kLayoutBytesMax ||
      record.key_bytes > kEngineKeyBytesMax) {
    return fail(Errc::kCorrupt, "record: a name is too long");
  }
  if (record.data_bytes == 0 || record.data_bytes > kBlockBytesMax) {
    return fail(Errc::kCorrupt, "record: size of the data");
  }
  return {};
}

std::size_t export_names_bytes(const ExportRecord& record) {
  return std::size_t{record.tenant_bytes} + record.layout_bytes + record.key_bytes;
}

Result<ExportNames> decode_export_names(const ExportRecord& record,
                                        std::span<const std::byte> bytes) {
  if (record.header_crc != crc_of(record, bytes)) {
    return fail(Errc::kCorrupt, "record: header checksum");
  }
  ExportNames names;
  names.space.tenant = text_of(bytes.first(record.tenant_bytes));
  names.space.layout_fingerprint = text_of(bytes.subspan(record.tenant_bytes, record.layout_bytes));
  const auto key = bytes.last(record.key_bytes);
  names.engine_key.assign(key.begin(), key.end());
  if (record.id != make_block_id(names.space, names.engine_key)) {
    return fail(Errc::kCorrupt, "record: the id is not that of its names");
  }
  return names;
}

ExportTrailer seal_export_trailer(ExportTrailer trailer) {
  trailer.magic = kTrailerMagic;
  trailer.crc = crc_of(trailer);
  return trailer;
}

Status check_export_trailer(const ExportTrailer& trailer) {
  if (trailer.magic != kTrailerMagic) return fail(Errc::kCorrupt, "trailer: magic");
  if (trailer.crc != crc_of(trailer)) return fail(Errc::kCorrupt, "trailer: checksum");
  return {};
}

bool is_export_record(std::uint32_t magic) { return magic == kRecordMagic; }
bool is_export_trailer(std::uint32_t magic) { return magic == kTrailerMagic; }

}  // namespace forebay::store
