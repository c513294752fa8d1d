#include "store/tier/flash_checkpoint_format.h"

#include <algorithm>
#include <utility>

#include "core/check.h"
#include "core/crc32c.h"

namespace forebay::store {
namespace {

constexpr std::uint64_t kCheckpointMagic = 0x504b434159424546ULL;  // "FEBYACKP"
constexpr std::uint64_t kHeatMagic = 0x544f484159424546ULL;        // "FEBYAHOT"

}  // namespace

void encode_checkpoint(CheckpointHeader header, std::span<std::byte> page) {
  std::ranges::fill(page, std::byte{0});
  header.magic = kCheckpointMagic;
  header.version = kFlashVersion;
  header.crc = 0;
  header.crc = crc32c(bytes_of(header));
  store_as(page, header);
}

Result<CheckpointHeader> decode_checkpoint(std::span<const std::byte> page, const Uuid& uuid,
                                           std::uint32_t area) {
  if (page.size() < sizeof(CheckpointHeader)) return fail(Errc::kCorrupt, "checkpoint: short");
  auto header = load_as<CheckpointHeader>(page);
  if (header.magic != kCheckpointMagic) return fail(Errc::kCorrupt, "checkpoint: no magic");
  const std::uint32_t said = std::exchange(header.crc, 0);
  if (crc32c(bytes_of(header)) != said) return fail(Errc::kCorrupt, "checkpoint: checksum");
  header.crc = said;
  if (header.version != kFlashVersion) return fail(Errc::kVersion, "checkpoint: version");
  if (header.uuid != uuid) return fail(Errc::kCorrupt, "checkpoint: another store");
  if (header.area != area) return fail(Errc::kCorrupt, "checkpoint: another place");
  return header;
}

void encode_heat_slot(HeatSlotHeader header, std::span<std::byte> slot) {
  const std::size_t bytes = sizeof header + std::size_t{header.word_count} * 4;
  FOREBAY_CHECK_LE(bytes, slot.size());
  header.magic = kHeatMagic;
  header.crc = 0;
  const std::uint32_t head = crc32c(bytes_of(header));
  header.crc = crc32c(slot.subspan(sizeof header, bytes - sizeof header), head);
  store_as(slot, header);
  std::ranges::fill(slot.subspan(bytes), std::byte{0});
}

Result<std::span<const std::byte>> decode_heat_slot(std::span<const std::byte> slot,
                                                    const HeatSlotHeader& expected) {
  if (slot.size() < sizeof(HeatSlotHeader)) return fail(Errc::kCorrupt, "heat slot: short");
  auto header = load_as<HeatSlotHeader>(slot);
  if (header.magic != kHeatMagic || header.uuid != expected.uuid ||
      header.sequence != expected.sequence || header.index != expected.index) {
    return fail(Errc::kCorrupt, "heat slot: of another segment");
  }
  const std::size_t words_bytes = std::size_t{header.word_count} * 4;
  if (words_bytes > slot.size() - sizeof header) return fail(Errc::kCorrupt, "heat slot: length");
  const auto words = slot.subspan(sizeof header, words_bytes);
  const std::uint32_t said = std::exchange(header.crc, 0);
  if (crc32c(words, crc32c(bytes_of(header))) != said) {
    return fail(Errc::kCorrupt, "heat slot: checksum");
  }
  return words;
}

}  // namespace forebay::store
