// Copies between one run of bytes and scattered pieces. Units: bytes. Pure.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace forebay::store {

[[nodiscard]] inline std::uint64_t pieces_bytes(std::span<const iovec> pieces) {
  std::uint64_t bytes = 0;
  for (const iovec& piece : pieces) bytes += piece.iov_len;
  return bytes;
}

// `from` must be exactly as long as `pieces`.
inline void scatter(std::span<const std::byte> from, std::span<const iovec> pieces) {
  const std::byte* at = from.data();
  for (const iovec& piece : pieces) {
    if (piece.iov_len == 0) continue;
    std::memcpy(piece.iov_base, at, piece.iov_len);
    at += piece.iov_len;
  }
}

// `to` must be exactly as long as `pieces`.
inline void gather(std::span<const iovec> pieces, std::span<std::byte> to) {
  std::byte* at = to.data();
  for (const iovec& piece : pieces) {
    if (piece.iov_len == 0) continue;
    std::memcpy(at, piece.iov_base, piece.iov_len);
    at += piece.iov_len;
  }
}

}  // namespace forebay::store
