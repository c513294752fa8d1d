#include "core/crc32c.h"

#include <isa-l/crc.h>

#include <algorithm>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace forebay {
namespace {

constexpr std::size_t kPieceBytes = 1024;
constexpr std::size_t kAheadBytes = 8192;
constexpr std::size_t kLineBytes = 64;
// Shorter runs are over before prefetching pays.
constexpr std::size_t kPrefetchFrom = 64 * 1024;

#if defined(__x86_64__)
// isa-l leaves the upper halves of the vector registers dirty. Until they are cleared every SSE
// instruction of this thread waits for the one before it: copies run at a third of their speed.
__attribute__((target("avx"))) void clear_upper_halves() { _mm256_zeroupper(); }
const bool kHasUpperHalves = __builtin_cpu_supports("avx") != 0;
#endif

// isa-l takes an int length, wants a non-const pointer it does not write, and leaves the RFC's
// inversions to the caller.
std::uint32_t update(std::span<const std::byte> bytes, std::uint32_t crc) {
  auto* start = const_cast<unsigned char*>(reinterpret_cast<const unsigned char*>(bytes.data()));
  crc = crc32_iscsi(start, static_cast<int>(bytes.size()), crc);
#if defined(__x86_64__)
  if (kHasUpperHalves) clear_upper_halves();
#endif
  return crc;
}

}  // namespace

std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t before) {
  std::uint32_t crc = ~before;
  // The processor's own prefetching stops at every 4 KiB; fetching ahead of it by hand makes what
  // a device has just written to memory a third faster to check.
  if (bytes.size() >= kPrefetchFrom) {
    while (bytes.size() >= kAheadBytes + kPieceBytes) {
      const std::byte* ahead = bytes.data() + kAheadBytes;
      for (std::size_t at = 0; at < kPieceBytes; at += kLineBytes) __builtin_prefetch(ahead + at);
      crc = update(bytes.first(kPieceBytes), crc);
      bytes = bytes.subspan(kPieceBytes);
    }
  }
  constexpr std::size_t kCallBytesMax = std::size_t{1} << 30;
  while (!bytes.empty()) {
    const std::size_t size = std::min(bytes.size(), kCallBytesMax);
    crc = update(bytes.first(size), crc);
    bytes = bytes.subspan(size);
  }
  return ~crc;
}

}  // namespace forebay
