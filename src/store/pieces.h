// Copies between one run of bytes and scattered pieces. Units: bytes. Pure.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/stream_copy.h"

namespace forebay::store {

[[nodiscard]] inline std::uint64_t pieces_bytes(std::span<const iovec> pieces) {
  std::uint64_t bytes = 0;
  for (const iovec& piece : pieces) bytes += piece.iov_len;
  return bytes;
}

// `from` must be exactly as long as `pieces`.
inline void scatter(std::span<const std::byte> from, std::span<const iovec> pieces) {
  for (const iovec& piece : pieces) {
    stream_copy(from.first(piece.iov_len), static_cast<std::byte*>(piece.iov_base));
    from = from.subspan(piece.iov_len);
  }
}

// `to` must be exactly as long as `pieces`. Returns the CRC-32C of the bytes.
inline std::uint32_t gather(std::span<const iovec> pieces, std::span<std::byte> to) {
  std::uint32_t crc = 0;
  std::byte* at = to.data();
  for (const iovec& piece : pieces) {
    crc =
        stream_copy_crc32c({static_cast<const std::byte*>(piece.iov_base), piece.iov_len}, at, crc);
    at += piece.iov_len;
  }
  return crc;
}

}  // namespace forebay::store
