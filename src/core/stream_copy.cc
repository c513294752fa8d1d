#include "core/stream_copy.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "core/bytes.h"
#include "core/crc32c.h"

namespace forebay {
namespace {

constexpr std::size_t kLineBytes = 64;
// Checked, then copied while it is in the first cache.
constexpr std::size_t kPieceBytes = 1024;
constexpr std::size_t kAheadBytes = 8192;
// Shorter copies end before any of this pays, and what they bring may be wanted in the cache.
constexpr std::size_t kStreamFrom = 16 * 1024;

using Vector = std::uint64_t __attribute__((vector_size(16), may_alias));

// Whole lines to an aligned destination.
void store_lines(const std::byte* from, std::byte* to, std::size_t bytes) {
  for (std::size_t at = 0; at < bytes; at += sizeof(Vector)) {
    Vector value;  // `from` may be unaligned
    std::memcpy(&value, from + at, sizeof value);
    __builtin_nontemporal_store(value, reinterpret_cast<Vector*>(to + at));
  }
}

void prefetch_piece(const std::byte* from) {
  for (std::size_t at = 0; at < kPieceBytes; at += kLineBytes) __builtin_prefetch(from + at);
}

template <class See>
void copy_pieces(std::span<const std::byte> from, std::byte* to, See see) {
  const auto copy_head = [&](std::size_t bytes) {
    see(from.first(bytes));
    std::memcpy(to, from.data(), bytes);
    from = from.subspan(bytes);
    to += bytes;
  };
  if (from.size() >= kStreamFrom) {
    const std::size_t past = reinterpret_cast<std::uintptr_t>(to) % kLineBytes;
    if (past != 0) copy_head(kLineBytes - past);
    while (from.size() >= kPieceBytes) {
      if (from.size() >= kAheadBytes + kPieceBytes) prefetch_piece(from.data() + kAheadBytes);
      see(from.first(kPieceBytes));
      store_lines(from.data(), to, kPieceBytes);
      from = from.subspan(kPieceBytes);
      to += kPieceBytes;
    }
    // Stores past the cache are ordered by a fence alone.
    std::atomic_thread_fence(std::memory_order_seq_cst);
  }
  if (!from.empty()) copy_head(from.size());
}

}  // namespace

void stream_copy(std::span<const std::byte> from, std::byte* to) {
  copy_pieces(from, to, [](std::span<const std::byte>) {});
}

std::uint32_t stream_copy_crc32c(std::span<const std::byte> from, std::byte* to,
                                 std::uint32_t before) {
  std::uint32_t crc = before;
  copy_pieces(from, to, [&crc](std::span<const std::byte> piece) { crc = crc32c(piece, crc); });
  return crc;
}

}  // namespace forebay
