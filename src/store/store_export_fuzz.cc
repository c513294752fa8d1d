// Any bytes are an export file or a clear refusal, and what is read proves itself.
//
// The first byte's lowest bit makes the harness put right CRCs into heads and trailers first, so
// that the checks behind them are reached as well.
#include <algorithm>
#include <cstdlib>
#include <vector>

#include "core/bytes.h"
#include "core/crc32c.h"
#include "store/export_stream.h"
#include "store/export_testing.h"

namespace forebay::store {
namespace {

constexpr std::size_t kDataBytesMax = 1 << 20;  // of one block: larger ones cannot be here

void seal(std::span<std::byte> file) {
  if (file.size() < sizeof(ExportHeader)) return;
  store_as(file, make_export_header());
  std::size_t at = sizeof(ExportHeader);
  while (file.size() - at >= sizeof(ExportRecord)) {
    auto record = load_as<ExportRecord>(file.subspan(at));
    if (!check_export_record(record)) break;
    const std::size_t names_bytes = export_names_bytes(record);
    if (file.size() - at - sizeof record < names_bytes + record.data_bytes) break;
    const auto names = file.subspan(at + sizeof record, names_bytes);
    record.data_crc = crc32c(file.subspan(at + sizeof record + names_bytes, record.data_bytes));
    record.header_crc = 0;
    record.header_crc = crc32c(names, crc32c(bytes_of(record)));
    store_as(file.subspan(at), record);
    at += sizeof record + names_bytes + record.data_bytes;
  }
  if (file.size() - at < sizeof(ExportTrailer)) return;
  auto trailer = load_as<ExportTrailer>(file.subspan(at));
  trailer.file_crc = crc32c(file.first(at));
  store_as(file.subspan(at), seal_export_trailer(trailer));
}

void read(std::span<const std::byte> file) {
  ExportReader reader(source_of(file));
  if (!reader.begin()) return;
  while (true) {
    const auto block = reader.next();
    if (reader.offset_bytes() > file.size()) std::abort();
    if (!block || !*block || (*block)->record.data_bytes > kDataBytesMax) return;
    const ExportedBlock& read = **block;
    if (read.record.id != make_block_id(read.names.space, read.names.engine_key)) std::abort();
    std::vector<std::byte> data(read.record.data_bytes);
    if (!reader.read_data(read, data)) return;
  }
}

}  // namespace
}  // namespace forebay::store

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  std::vector<std::byte> file(size - 1);
  if (!file.empty()) std::memcpy(file.data(), data + 1, file.size());
  if ((data[0] & 1) != 0) forebay::store::seal(file);
  forebay::store::read(file);
  return 0;
}
