// The bytes of a checkpoint area: its header, and one heat slot a segment
// (docs/formats/flash-tier.md).
//
// Two areas take turns; a header is written last, so the newest whole one rules. A heat slot proves
// itself and names the segment's life, so a slot that is older or newer than its area's header is
// still right. Pure: no I/O. Errors: kCorrupt, kVersion.
#pragma once

#include <cstdint>
#include <span>

#include "store/tier/flash_format.h"
#include "store/tier/flash_summary.h"

namespace forebay::store {

inline constexpr std::uint32_t kNoSegment = ~std::uint32_t{0};

struct CheckpointHeader {
  std::uint64_t magic = 0;
  std::uint32_t version = 0;
  std::uint32_t area = 0;
  Uuid uuid{};
  std::uint64_t checkpoint_sequence = 0;
  std::uint64_t next_segment_sequence = 0;
  std::uint64_t device_written_bytes = 0;  // over the life of the store
  std::uint64_t host_written_bytes = 0;
  std::uint64_t wear_level_bytes = 0;       // how full the wear meter's bucket was
  std::uint64_t open_sequence = 0;          // of the open segment
  std::uint32_t open_segment = kNoSegment;  // whose summary the tail region holds
  std::uint32_t open_end_page = 0;          // within it: records end here
  SummaryCounts tail;
  std::uint32_t crc = 0;
};
static_assert(sizeof(CheckpointHeader) == 120);

void encode_checkpoint(CheckpointHeader header, std::span<std::byte> page);
[[nodiscard]] Result<CheckpointHeader> decode_checkpoint(std::span<const std::byte> page,
                                                         const Uuid& uuid, std::uint32_t area);

struct HeatSlotHeader {
  std::uint64_t magic = 0;
  Uuid uuid{};
  std::uint64_t sequence = 0;  // of the segment
  std::uint32_t index = 0;
  std::uint32_t word_count = 0;  // one a record, in the summary's order
  std::uint32_t reserved = 0;
  std::uint32_t crc = 0;  // over this with the field 0, then the words
};
static_assert(sizeof(HeatSlotHeader) == 48);

// `slot` holds the whole slot; its words stand after the header already.
void encode_heat_slot(HeatSlotHeader header, std::span<std::byte> slot);
// The words of a slot that proves itself.
[[nodiscard]] Result<std::span<const std::byte>> decode_heat_slot(std::span<const std::byte> slot,
                                                                  const HeatSlotHeader& expected);

}  // namespace forebay::store
