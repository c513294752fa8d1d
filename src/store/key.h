// Who a block is: its key space (tenant and layout), its engine key, its 32-byte identity.
//
// Identity is SHA-256 over (tenant, layout fingerprint, engine key), each length-prefixed, so that
// neither tenants nor layouts can collide by chance or by design (DESIGN D3).
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <string>

#include "core/hash.h"

namespace forebay::store {

struct BlockId {
  Digest digest{};
  friend auto operator<=>(const BlockId&, const BlockId&) = default;
  // The first 64 bits: well mixed already, good for tables.
  [[nodiscard]] std::uint64_t word() const {
    std::uint64_t value = 0;
    std::memcpy(&value, digest.data(), sizeof value);
    return value;
  }
};

// The parent of a chain's first block.
inline constexpr BlockId kNoParent{};

// Everything that makes two engines' bytes interchangeable, as text: model, dtype, block size, TP
// rank, engine layout version, salt.
struct KeySpace {
  std::string tenant;              // at most kTenantBytesMax
  std::string layout_fingerprint;  // at most kLayoutBytesMax
};

inline constexpr std::size_t kTenantBytesMax = 64;
inline constexpr std::size_t kLayoutBytesMax = 256;
inline constexpr std::size_t kEngineKeyBytesMax = 256;

[[nodiscard]] BlockId make_block_id(const KeySpace& space, std::span<const std::byte> engine_key);

}  // namespace forebay::store

template <>
struct std::hash<forebay::store::BlockId> {
  std::size_t operator()(const forebay::store::BlockId& id) const { return id.word(); }
};
