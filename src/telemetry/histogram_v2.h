// HdrHistogram's V2 encoding: what stands inside the compressed text of Histogram::encode_v2().
//
// The page of the format is HdrHistogram's own (V2 histogram encoding, big-endian fields): cookie
// 0x1c849313, payload bytes, normalising offset 0, digits 3, lowest 1, highest, ratio 1.0; then the
// counts from cell 0 on as zig-zag LEB128 of at most 9 bytes, where a negative number is a run of
// empty cells. The text is base64 of cookie 0x1c849314, length, and zlib of the above. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "core/error.h"

namespace forebay::telemetry {

// `counts` by cell (histogram_cells.h).
[[nodiscard]] std::vector<std::byte> encode_v2_payload(std::span<const std::uint64_t> counts);
// kCorrupt; kVersion: not V2; kUnsupported: another precision, unit or scale than ours.
[[nodiscard]] Result<std::vector<std::uint64_t>> decode_v2_payload(
    std::span<const std::byte> bytes);

// The payload in zlib, with the outer cookie, in base64; and back. Decoding is bounded by
// kV2PayloadBytesMax.
inline constexpr std::size_t kV2PayloadBytesMax = std::size_t{1} << 19;
[[nodiscard]] std::string wrap_v2(std::span<const std::byte> payload);
[[nodiscard]] Result<std::vector<std::byte>> unwrap_v2(std::string_view text);

}  // namespace forebay::telemetry
