#include "store/export_stream.h"

#include <algorithm>
#include <array>

#include "core/bytes.h"
#include "core/crc32c.h"

namespace forebay::store {

Status ExportWriter::put(std::span<const std::byte> bytes) {
  trailer_.file_crc = crc32c(bytes, trailer_.file_crc);
  return sink_(bytes);
}

Status ExportWriter::begin() {
  const ExportHeader header = make_export_header();
  return put(bytes_of(header));
}

Status ExportWriter::add(const WalkedBlock& block) {
  ExportNames names{.space = block.space, .engine_key = block.engine_key};
  if (make_block_id(names.space, names.engine_key) != block.id) {
    return fail(Errc::kInvalid, "the id is not that of its names");
  }
  ExportRecord record;
  record.data_bytes = static_cast<std::uint32_t>(block.data.size());
  record.token_count = block.token_count;
  record.chain_depth = block.chain_depth;
  record.parent = block.parent;
  record.data_crc = crc32c(block.data);
  FOREBAY_TRY(head, encode_export_record(record, names));
  FOREBAY_TRY_STATUS(put(head));
  FOREBAY_TRY_STATUS(put(block.data));
  ++trailer_.block_count;
  trailer_.data_bytes += block.data.size();
  return {};
}

Status ExportWriter::end() {
  const ExportTrailer sealed = seal_export_trailer(trailer_);
  return sink_(bytes_of(sealed));
}

Status ExportReader::fill(std::span<std::byte> bytes) {
  FOREBAY_TRY(count, source_(bytes));
  position_bytes_ += count;
  if (count < bytes.size()) return fail(Errc::kCorrupt, "the file ends in the middle: truncated");
  return {};
}

Status ExportReader::begin() {
  ExportHeader header;
  const auto bytes = std::as_writable_bytes(std::span(&header, 1));
  if (const Status read = fill(bytes); !read) {
    if (read.error().code != Errc::kCorrupt) return read;
    // Whatever is shorter than a header was never an export.
    return fail(Errc::kCorrupt, "not an export of a store");
  }
  crc_ = crc32c(bytes);
  return check_export_header(header);
}

Result<std::optional<ExportedBlock>> ExportReader::next() {
  structure_bytes_ = position_bytes_;
  std::array<std::byte, sizeof(ExportRecord)> head;
  const std::span<std::byte> short_head(head.data(), sizeof(ExportTrailer));
  FOREBAY_TRY_STATUS(fill(short_head));
  const auto magic = load_as<std::uint32_t>(head);
  if (is_export_trailer(magic)) {
    FOREBAY_TRY_STATUS(finish(short_head));
    return std::optional<ExportedBlock>();
  }
  if (!is_export_record(magic)) return fail(Errc::kCorrupt, "neither a record nor the trailer");
  FOREBAY_TRY_STATUS(fill(std::span(head).subspan(sizeof(ExportTrailer))));
  ExportedBlock block;
  block.record = load_as<ExportRecord>(head);
  FOREBAY_TRY_STATUS(check_export_record(block.record));
  std::array<std::byte, kTenantBytesMax + kLayoutBytesMax + kEngineKeyBytesMax> memory;
  const auto name_bytes = std::span(memory).first(export_names_bytes(block.record));
  FOREBAY_TRY_STATUS(fill(name_bytes));
  FOREBAY_TRY(names, decode_export_names(block.record, name_bytes));
  block.names = std::move(names);
  crc_ = crc32c(name_bytes, crc32c(head, crc_));
  return std::optional(std::move(block));
}

Status ExportReader::read_data(const ExportedBlock& block, std::span<std::byte> data) {
  FOREBAY_TRY_STATUS(fill(data));
  if (crc32c(data) != block.record.data_crc) return fail(Errc::kCorrupt, "record: data checksum");
  crc_ = crc32c(data, crc_);
  ++block_count_;
  data_bytes_ += data.size();
  return {};
}

Status ExportReader::finish(std::span<const std::byte> head) {
  const auto trailer = load_as<ExportTrailer>(head);
  FOREBAY_TRY_STATUS(check_export_trailer(trailer));
  if (trailer.block_count != block_count_ || trailer.data_bytes != data_bytes_) {
    return fail(Errc::kCorrupt, "trailer: blocks are missing from the file");
  }
  if (trailer.file_crc != crc_) return fail(Errc::kCorrupt, "trailer: checksum of the whole file");
  skipped_blocks_ = trailer.skipped_blocks;
  std::byte beyond{};
  FOREBAY_TRY(count, source_({&beyond, 1}));
  if (count != 0) {
    structure_bytes_ = position_bytes_;
    return fail(Errc::kCorrupt, "something follows the trailer");
  }
  return {};
}

}  // namespace forebay::store
