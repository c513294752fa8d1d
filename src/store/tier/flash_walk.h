// Walks a segment's bytes, record by record, and says of each whether it proves itself.
//
// Fed with consecutive pages, in pieces of any number of pages. Bytes that are no record are
// stepped over page by page, up to kRecordBytesMax in a row (LogHead's promise); any torn or
// foreign bytes are tolerated. Pure: no I/O. Memory: one header page, and the data of a tombstone
// record.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "store/tier/flash_format.h"

namespace forebay::store {

class SegmentWalker {
 public:
  struct Seen {
    const DecodedRecord& record;
    std::uint32_t page = 0;  // within the segment
    bool data_good = false;
    std::span<const std::byte> tombstones;  // of a kTombstones record whose data is good
  };
  using Sink = std::function<void(const Seen&)>;

  struct Start {
    Uuid uuid{};
    FlashPage segment_page = 0;
    std::uint32_t segment_pages = 0;
    std::uint32_t page_bytes = 0;
    std::uint32_t from_page = 1;            // within the segment
    std::optional<std::uint64_t> sequence;  // none: the first record that proves itself says
    bool to_the_end = false;                // however long nothing proves itself
  };
  SegmentWalker(const Start& start, Sink sink);

  // `bytes`: the next pages.
  void feed(std::span<const std::byte> bytes);
  // Past the end, or past what can still be a gap.
  [[nodiscard]] bool finished() const;
  // Within the segment: the next page that feed() expects.
  [[nodiscard]] std::uint32_t next_page() const { return page_; }
  // Where the last record, good or not, ends.
  [[nodiscard]] std::uint32_t end_page() const { return end_page_; }
  [[nodiscard]] std::optional<std::uint64_t> sequence() const { return start_.sequence; }

 private:
  void try_header(std::span<const std::byte> page);
  void take_data(std::span<const std::byte> page);
  void finish_record();

  Start start_;
  Sink sink_;
  std::uint32_t page_;
  std::uint32_t end_page_;
  std::uint32_t gap_pages_ = 0;
  std::vector<std::byte> header_;        // of the record being walked
  std::optional<DecodedRecord> record_;  // views into header_
  std::uint32_t record_page_ = 0;
  std::uint64_t data_left_ = 0;
  std::uint32_t crc_ = 0;
  std::vector<std::byte> tombstones_;
};

}  // namespace forebay::store
