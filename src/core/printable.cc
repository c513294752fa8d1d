#include "core/printable.h"

#include <algorithm>
#include <cstdint>

namespace forebay {
namespace {

constexpr bool is_plain(char c) { return c >= ' ' && c <= '~'; }

// One character, and how many bytes it has; 0 bytes: this is not UTF-8 (RFC 3629).
struct Character {
  std::uint32_t code = 0;
  std::size_t size_bytes = 0;
};

Character first_character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const std::uint32_t lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const std::size_t size = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  constexpr std::uint32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  if (lead < 0xc2 || lead > 0xf4 || text.size() < size) return {};
  std::uint32_t code = lead & (0x7fU >> size);
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xc0U) != 0x80) return {};
    code = code << 6 | (byte(i) & 0x3fU);
  }
  const bool surrogate = code >= 0xd800 && code <= 0xdfff;
  if (code < kSmallest[size] || code > 0x10ffff || surrogate) return {};
  return {code, size};
}

bool is_shown(std::uint32_t code) {
  const auto between = [&](std::uint32_t low, std::uint32_t high) {
    return code >= low && code <= high;
  };
  return !(code < 0x20 || between(0x7f, 0x9f) || between(0x200e, 0x200f) ||
           between(0x2028, 0x202e) || between(0x2066, 0x2069) || code == 0xfeff);
}

void append_escape(std::string& shown, char c) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  if (c == '\n') {
    shown += "\\n";
  } else if (c == '\t') {
    shown += "\\t";
  } else if (c == '\r') {
    shown += "\\r";
  } else {
    const auto byte = static_cast<unsigned char>(c);
    shown += "\\x";
    shown += kDigits[byte >> 4];
    shown += kDigits[byte & 15U];
  }
}

}  // namespace

std::string printable(std::string_view text) {
  if (std::ranges::all_of(text, is_plain)) return std::string(text);
  std::string shown;
  while (!text.empty()) {
    const Character next = first_character(text);
    const std::size_t size = std::max<std::size_t>(1, next.size_bytes);
    if (next.size_bytes > 0 && is_shown(next.code)) {
      shown += text.substr(0, size);
    } else {
      for (const char c : text.substr(0, size)) append_escape(shown, c);
    }
    text.remove_prefix(size);
  }
  return shown;
}

}  // namespace forebay
