// The bytes of a kept slot: a header, and behind it what the tier's owner keeps over restarts
// (docs/formats/flash-tier.md).
//
// Two slots take turns and each proves itself, so the newer whole one rules. What the body means is
// the owner's. Pure: no I/O. Errors: kNotFound (nothing of this store was ever written there),
// kVersion, kCorrupt.
#pragma once

#include <cstdint>
#include <span>

#include "store/tier/flash_format.h"

namespace forebay::store {

// None is written from here on: a header that says so would rule for ever.
inline constexpr std::uint64_t kKeptNumberEnd = ~std::uint64_t{0};

struct KeptHeader {
  std::uint64_t magic = 0;
  std::uint32_t version = 0;
  std::uint32_t slot = 0;  // 0 or 1: which of the two this is
  Uuid uuid{};
  std::uint64_t number = 0;  // of the writing; the higher of two good slots rules
  std::uint32_t body_bytes = 0;
  std::uint32_t body_crc = 0;
  std::uint32_t reserved = 0;
  std::uint32_t crc = 0;
};
static_assert(sizeof(KeptHeader) == 56);

// `slot` holds the body behind the header's place already.
void encode_kept(KeptHeader header, std::span<std::byte> slot);
// The header alone, from a slot of `slot_bytes`.
[[nodiscard]] Result<KeptHeader> decode_kept_header(std::span<const std::byte> page,
                                                    const KeptHeader& expected,
                                                    std::uint64_t slot_bytes);
// The body, from the slot's first bytes: as many as the header needs, or more.
[[nodiscard]] Result<std::span<const std::byte>> kept_body(std::span<const std::byte> slot,
                                                           const KeptHeader& header);

}  // namespace forebay::store
