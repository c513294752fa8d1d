// The summary of a segment: what stands in it, so that open() need not read the segment itself
// (docs/formats/flash-tier.md).
//
//   body: entries | tombstones | foreign parents | spaces        footer: the segment's last page
//
// The body ends right before the footer's page; the footer says how long it is and proves it. The
// summary of the open segment, kept in a checkpoint area, has the same body. Pure: no I/O.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "store/tier/flash_format.h"
#include "store/tier/flash_records.h"

namespace forebay::store {

struct SummaryEntry {
  BlockId id;
  std::uint32_t page = 0;  // within the segment
  std::uint32_t data_bytes = 0;
  std::uint32_t token_count = 0;
  std::uint32_t chain_depth = 0;
  std::uint32_t heat = 0;
  std::uint32_t parent = 0;  // kNoParentRef, an entry of this summary, or kForeignParent | n
  std::uint16_t space = 0;
  std::uint16_t reserved = 0;
};
static_assert(sizeof(SummaryEntry) == 60);
inline constexpr std::uint32_t kNoParentRef = ~std::uint32_t{0};
inline constexpr std::uint32_t kForeignParent = std::uint32_t{1} << 31;
inline constexpr std::size_t kSpacesMax = 65'535;

// The parts of a body and its CRC.
struct SummaryCounts {
  std::uint32_t body_bytes = 0;
  std::uint32_t body_crc = 0;
  std::uint32_t record_count = 0;
  std::uint32_t tombstone_count = 0;
  std::uint32_t parent_count = 0;
  std::uint32_t space_count = 0;
  std::uint32_t space_bytes = 0;
  friend bool operator==(const SummaryCounts&, const SummaryCounts&) = default;
};

struct SummaryFooter {
  std::uint64_t magic = 0;
  std::uint32_t version = 0;
  std::uint32_t index = 0;
  Uuid uuid{};
  std::uint64_t sequence = 0;
  SummaryCounts counts;
  std::uint32_t body_page = 0;      // within the segment
  std::uint32_t data_end_page = 0;  // within the segment: records end here
  std::uint32_t reserved = 0;
  std::uint32_t crc = 0;
  std::uint32_t reserved_2 = 0;
};
static_assert(sizeof(SummaryFooter) == 88);

// An upper bound of the body for that many records and these names.
[[nodiscard]] std::uint64_t summary_bytes_max(const SegmentRecords& records);

// Only blocks that stand, before `end_page`, enter. The body is appended to `out`.
[[nodiscard]] SummaryCounts encode_summary_body(const SegmentRecords& records,
                                                std::uint32_t end_page,
                                                std::vector<std::byte>& out);
void encode_summary_footer(SummaryFooter footer, std::span<std::byte> page);
[[nodiscard]] Result<SummaryFooter> decode_summary_footer(std::span<const std::byte> page,
                                                          const Uuid& uuid, std::uint32_t index);
// Whether a page that is no footer looks like a damaged one of this store.
[[nodiscard]] bool has_footer_marks(std::span<const std::byte> page, const Uuid& uuid);

// A body that proved itself. Views into the bytes given to parse(), which must stay.
class SummaryView {
 public:
  // kCorrupt: a length or the CRC is wrong, or an entry points outside the segment.
  [[nodiscard]] static Result<SummaryView> parse(const SummaryCounts& counts,
                                                 std::span<const std::byte> body,
                                                 std::uint32_t segment_pages,
                                                 std::uint32_t page_bytes);

  [[nodiscard]] std::uint32_t record_count() const { return counts_.record_count; }
  [[nodiscard]] SummaryEntry entry(std::uint32_t i) const {
    return load_as<SummaryEntry>(entries_.subspan(std::size_t{i} * sizeof(SummaryEntry)));
  }
  // Everything but the engine key, which only the record's own header holds.
  [[nodiscard]] RecordFacts facts(const SummaryEntry& entry) const;
  [[nodiscard]] std::uint32_t tombstone_count() const { return counts_.tombstone_count; }
  [[nodiscard]] Tombstone tombstone(std::uint32_t i) const {
    return load_as<Tombstone>(tombstones_.subspan(std::size_t{i} * sizeof(Tombstone)));
  }

 private:
  struct Space {
    std::string_view tenant;
    std::string_view layout_fingerprint;
  };
  [[nodiscard]] Status parse_spaces(std::span<const std::byte> bytes);
  [[nodiscard]] Status check_entries(std::uint32_t segment_pages, std::uint32_t page_bytes) const;

  SummaryCounts counts_;
  std::span<const std::byte> entries_;
  std::span<const std::byte> tombstones_;
  std::span<const std::byte> parents_;
  std::vector<Space> spaces_;
};

}  // namespace forebay::store
