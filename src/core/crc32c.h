// CRC-32C (Castagnoli, RFC 3720 appendix B.4), by isa-l: near memory bandwidth.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace forebay {

// `before` is the CRC of the bytes that precede these, so pieces can be checked one after another.
[[nodiscard]] std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t before = 0);

}  // namespace forebay
