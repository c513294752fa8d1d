// Writes and reads an export file as a stream: one block at a time, in memory bounded by a block.
//
// The bytes go to a sink and come from a source that the caller gives (a file, a pipe, a test's
// vector). Units: bytes. Threads: one owner. Blocking: as sink and source do.
#pragma once

#include <functional>
#include <optional>
#include <span>

#include "store/block_walk.h"
#include "store/export_format.h"

namespace forebay::store {

class ExportWriter {
 public:
  // Takes all bytes or says why not.
  using Sink = std::function<Status(std::span<const std::byte>)>;
  explicit ExportWriter(Sink sink) : sink_(std::move(sink)) {}

  // The header; before anything else.
  [[nodiscard]] Status begin();
  // kInvalid: the block cannot be exported (its id is not that of its names); nothing was written
  // and the stream goes on. Else the sink's.
  [[nodiscard]] Status add(const WalkedBlock& block);
  // A block that could not be read: counted in the trailer.
  void skip() { ++trailer_.skipped_blocks; }
  // The trailer; after everything else. A file without it counts as truncated.
  [[nodiscard]] Status end();

  [[nodiscard]] std::uint64_t block_count() const { return trailer_.block_count; }
  [[nodiscard]] std::uint64_t data_bytes() const { return trailer_.data_bytes; }
  [[nodiscard]] std::uint64_t skipped_blocks() const { return trailer_.skipped_blocks; }

 private:
  [[nodiscard]] Status put(std::span<const std::byte> bytes);

  Sink sink_;
  ExportTrailer trailer_;
};

// A block as the file says it; names and data are proven.
struct ExportedBlock {
  ExportRecord record;
  ExportNames names;
};

class ExportReader {
 public:
  // Fills `bytes` from its start and returns how many came; fewer than asked for at the end only.
  using Source = std::function<Result<std::size_t>(std::span<std::byte>)>;
  explicit ExportReader(Source source) : source_(std::move(source)) {}

  // The header; before anything else. kCorrupt, kVersion, the source's.
  [[nodiscard]] Status begin();
  // The next block's head and names, or nothing after a good trailer and the end of the file. Read
  // its data next. kCorrupt: damaged or truncated; no call after an error.
  [[nodiscard]] Result<std::optional<ExportedBlock>> next();
  // `data`: exactly the block's data_bytes.
  [[nodiscard]] Status read_data(const ExportedBlock& block, std::span<std::byte> data);

  // Where the structure begins that was read last: the place of an error.
  [[nodiscard]] std::uint64_t offset_bytes() const { return structure_bytes_; }
  // Blocks whose head and data were proven.
  [[nodiscard]] std::uint64_t block_count() const { return block_count_; }
  // After next() said nothing: blocks that were damaged when the export was made.
  [[nodiscard]] std::uint64_t skipped_blocks() const { return skipped_blocks_; }

 private:
  [[nodiscard]] Status fill(std::span<std::byte> bytes);
  [[nodiscard]] Status finish(std::span<const std::byte> head);

  Source source_;
  std::uint32_t crc_ = 0;
  std::uint64_t position_bytes_ = 0;
  std::uint64_t structure_bytes_ = 0;
  std::uint64_t block_count_ = 0;
  std::uint64_t data_bytes_ = 0;
  std::uint64_t skipped_blocks_ = 0;
};

}  // namespace forebay::store
