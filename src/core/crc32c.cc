#include "core/crc32c.h"

#include <isa-l/crc.h>

#include <algorithm>

namespace forebay {

std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t before) {
  // isa-l takes an int length, wants a non-const pointer it does not write, and leaves the RFC's
  // inversions to the caller.
  constexpr std::size_t kPieceBytes = std::size_t{1} << 30;
  std::uint32_t crc = ~before;
  while (!bytes.empty()) {
    const std::size_t size = std::min(bytes.size(), kPieceBytes);
    auto* start = const_cast<unsigned char*>(reinterpret_cast<const unsigned char*>(bytes.data()));
    crc = crc32_iscsi(start, static_cast<int>(size), crc);
    bytes = bytes.subspan(size);
  }
  return ~crc;
}

}  // namespace forebay
