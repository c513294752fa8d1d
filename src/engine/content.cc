#include "engine/content.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include <array>
#include <cstring>

#include "core/bytes.h"
#include "core/hash.h"
#include "core/rng.h"

namespace forebay::engine {
namespace {

constexpr std::size_t kLineBytes = 64;
constexpr std::size_t kWordsPerLine = kLineBytes / sizeof(std::uint64_t);
// Odd, so that line numbers map one to one; not splitmix64's own increment, so that the lines of a
// block are not a stretch of another block's lines under a related key.
constexpr std::uint64_t kLineStep = 0xd1342543de82ef95ULL;

// Arbitrary and pairwise different in every byte, so that no shift within a line fits.
constexpr std::array<std::uint64_t, kWordsPerLine> kLane = [] {
  std::array<std::uint64_t, kWordsPerLine> lanes{};
  std::uint64_t state = 0x7f4a7c15f39cc060ULL;
  for (auto& lane : lanes) lane = state = mix64(state);
  return lanes;
}();

using Line = std::array<std::uint64_t, kWordsPerLine>;
// Vectors of the compiler, so that the dev build (no auto-vectoriser) is fast enough for tests too.
using Words [[gnu::vector_size(16), gnu::aligned(16)]] = std::uint64_t;
using LooseWords [[gnu::vector_size(16), gnu::aligned(1)]] = std::uint64_t;
constexpr std::size_t kVectorsPerLine = kLineBytes / sizeof(Words);

inline std::uint64_t line_word(ContentKey key, std::uint64_t line) {
  return mix64(key.word ^ (line * kLineStep));
}

inline void make_line(Line& out, std::uint64_t word) {
  for (std::size_t i = 0; i < kWordsPerLine; ++i) out[i] = word ^ kLane[i];
}

inline Words lane_vector(std::size_t i) { return Words{kLane[2 * i], kLane[2 * i + 1]}; }

// Past the caches where the hardware can: a block is far larger than what stays in them, and
// writing through them reads every line first.
inline void stream(std::byte* at, Words value) {
#if defined(__SSE2__)
  __m128i raw;
  std::memcpy(&raw, &value, sizeof raw);
  _mm_stream_si128(reinterpret_cast<__m128i*>(at), raw);
#else
  std::memcpy(at, &value, sizeof value);
#endif
}

void fill_lines_aligned(std::byte* at, std::size_t line_count, ContentKey key) {
  for (std::size_t i = 0; i < line_count; ++i, at += kLineBytes) {
    const std::uint64_t word = line_word(key, i);
    const Words words{word, word};
    for (std::size_t v = 0; v < kVectorsPerLine; ++v) stream(at + 16 * v, words ^ lane_vector(v));
  }
#if defined(__SSE2__)
  _mm_sfence();
#endif
}

// Not zero when the line at `at` is not the one made from `word`.
inline bool line_differs(const std::byte* at, std::uint64_t word) {
  const Words words{word, word};
  Words difference{0, 0};
  for (std::size_t v = 0; v < kVectorsPerLine; ++v) {
    LooseWords there;
    std::memcpy(&there, at + 16 * v, sizeof there);
    difference |= there ^ words ^ lane_vector(v);
  }
  return (difference[0] | difference[1]) != 0;
}

// The slow search inside a line that is known to differ, or the short last line.
std::optional<std::size_t> first_bad_byte(std::span<const std::byte> bytes, std::uint64_t word) {
  Line line;
  make_line(line, word);
  const auto expected = std::as_bytes(std::span(line));
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (bytes[i] != expected[i]) return i;
  }
  return std::nullopt;
}

}  // namespace

ContentKey content_key(std::uint64_t content_seed, std::uint64_t block_name, std::uint64_t layout) {
  return {mix64(mix64(mix64(content_seed) + block_name) + layout)};
}

std::uint64_t layout_word(std::string_view tenant, std::string_view layout_fingerprint) {
  return hash64(layout_fingerprint, hash64(tenant));
}

void fill_content(std::span<std::byte> bytes, ContentKey key) {
  const std::size_t line_count = bytes.size() / kLineBytes;
  std::byte* at = bytes.data();
  Line line;
  if (is_aligned(at, sizeof(Words))) {
    fill_lines_aligned(at, line_count, key);
    at += line_count * kLineBytes;
  } else {
    for (std::size_t i = 0; i < line_count; ++i, at += kLineBytes) {
      make_line(line, line_word(key, i));
      std::memcpy(at, line.data(), kLineBytes);
    }
  }
  const std::size_t rest_bytes = bytes.size() % kLineBytes;
  if (rest_bytes == 0) return;
  make_line(line, line_word(key, line_count));
  std::memcpy(at, line.data(), rest_bytes);
}

std::optional<std::size_t> check_content(std::span<const std::byte> bytes, ContentKey key) {
  const std::size_t line_count = bytes.size() / kLineBytes;
  const std::byte* at = bytes.data();
  for (std::size_t i = 0; i < line_count; ++i, at += kLineBytes) {
    const std::uint64_t word = line_word(key, i);
    if (!line_differs(at, word)) [[likely]]
      continue;
    return i * kLineBytes + *first_bad_byte({at, kLineBytes}, word);
  }
  const auto bad =
      first_bad_byte(bytes.subspan(line_count * kLineBytes), line_word(key, line_count));
  if (!bad) return std::nullopt;
  return line_count * kLineBytes + *bad;
}

}  // namespace forebay::engine
