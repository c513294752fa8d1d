#include "store/tier/flash_kept_format.h"

#include <algorithm>
#include <utility>

#include "core/check.h"
#include "core/crc32c.h"

namespace forebay::store {
namespace {

constexpr std::uint64_t kKeptMagic = 0x5045454b59424546ULL;  // "FEBYKEEP"
constexpr std::uint32_t kKeptVersion = 1;

}  // namespace

void encode_kept(KeptHeader header, std::span<std::byte> slot) {
  FOREBAY_CHECK_LE(sizeof header + header.body_bytes, slot.size());
  header.magic = kKeptMagic;
  header.version = kKeptVersion;
  header.body_crc = crc32c(slot.subspan(sizeof header, header.body_bytes));
  header.crc = 0;
  header.crc = crc32c(bytes_of(header));
  store_as(slot, header);
  std::ranges::fill(slot.subspan(sizeof header + header.body_bytes), std::byte{0});
}

Result<KeptHeader> decode_kept_header(std::span<const std::byte> page, const KeptHeader& expected,
                                      std::uint64_t slot_bytes) {
  if (page.size() < sizeof(KeptHeader)) return fail(Errc::kCorrupt, "kept slot: short");
  auto header = load_as<KeptHeader>(page);
  // Bytes of an earlier store, or of none, are no damage.
  if (header.magic != kKeptMagic || header.uuid != expected.uuid) {
    return fail(Errc::kNotFound, "kept slot: nothing of this store");
  }
  const std::uint32_t said = std::exchange(header.crc, 0);
  if (crc32c(bytes_of(header)) != said) return fail(Errc::kCorrupt, "kept slot: checksum");
  header.crc = said;
  if (header.version != kKeptVersion) return fail(Errc::kVersion, "kept slot: version");
  if (header.slot != expected.slot) return fail(Errc::kCorrupt, "kept slot: another place");
  if (header.body_bytes > slot_bytes - sizeof header || header.number >= kKeptNumberEnd) {
    return fail(Errc::kCorrupt, "kept slot: impossible length or number");
  }
  return header;
}

Result<std::span<const std::byte>> kept_body(std::span<const std::byte> slot,
                                             const KeptHeader& header) {
  if (slot.size() < sizeof header + header.body_bytes) {
    return fail(Errc::kCorrupt, "kept slot: short");
  }
  const auto body = slot.subspan(sizeof header, header.body_bytes);
  if (crc32c(body) != header.body_crc) return fail(Errc::kCorrupt, "kept slot: its data");
  return body;
}

}  // namespace forebay::store
