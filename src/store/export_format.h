// The bytes of an export file: header, one record a block, trailer.
//
// docs/formats/store-export.md is the page of this format. All fields are little-endian; every
// structure carries a magic and a CRC-32C, and decode_* believes none of them until all agree.
// Pure: no I/O. Errors: kCorrupt (does not prove itself), kVersion; the text says what is wrong.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/error.h"
#include "store/key.h"

namespace forebay::store {

inline constexpr std::uint32_t kExportVersion = 1;

struct ExportHeader {
  std::array<char, 8> magic{};
  std::uint32_t version = 0;
  std::array<std::uint32_t, 4> reserved{};
  std::uint32_t crc = 0;
};
static_assert(sizeof(ExportHeader) == 32);

// The fixed head of a record; tenant, layout fingerprint, engine key and data follow it.
struct ExportRecord {
  std::uint32_t magic = 0;
  std::uint16_t tenant_bytes = 0;
  std::uint16_t layout_bytes = 0;
  std::uint16_t key_bytes = 0;
  std::uint16_t reserved = 0;
  std::uint32_t data_bytes = 0;
  std::uint32_t token_count = 0;
  std::uint32_t chain_depth = 0;
  std::uint32_t data_crc = 0;
  std::uint32_t header_crc = 0;  // of this, with this field 0, and the three names
  BlockId id;
  BlockId parent;
};
static_assert(sizeof(ExportRecord) == 96);

struct ExportTrailer {
  std::uint32_t magic = 0;
  std::uint32_t skipped_blocks = 0;  // damaged in the store that was exported
  std::uint64_t block_count = 0;
  std::uint64_t data_bytes = 0;  // of all blocks
  std::uint32_t file_crc = 0;    // of every byte before the trailer
  std::uint32_t crc = 0;         // of this, with this field 0
};
static_assert(sizeof(ExportTrailer) == 32);

// A record's names; `id` follows from them.
struct ExportNames {
  KeySpace space;
  std::vector<std::byte> engine_key;
};

[[nodiscard]] ExportHeader make_export_header();
[[nodiscard]] Status check_export_header(const ExportHeader& header);

// Fills in magic, sizes of the names, id and header_crc; the three names stand behind it.
// kInvalid: a name or the data is longer than a store takes.
[[nodiscard]] Result<std::vector<std::byte>> encode_export_record(ExportRecord record,
                                                                  const ExportNames& names);
// What the fixed head alone proves: the magic, and sizes within bounds.
[[nodiscard]] Status check_export_record(const ExportRecord& record);
[[nodiscard]] std::size_t export_names_bytes(const ExportRecord& record);
// `bytes`: export_names_bytes(record) behind a head that was checked. Proves the CRC and that the
// id is that of the names.
[[nodiscard]] Result<ExportNames> decode_export_names(const ExportRecord& record,
                                                      std::span<const std::byte> bytes);

[[nodiscard]] ExportTrailer seal_export_trailer(ExportTrailer trailer);
[[nodiscard]] Status check_export_trailer(const ExportTrailer& trailer);

// The first four bytes of what may follow the header.
[[nodiscard]] bool is_export_record(std::uint32_t magic);
[[nodiscard]] bool is_export_trailer(std::uint32_t magic);

}  // namespace forebay::store
