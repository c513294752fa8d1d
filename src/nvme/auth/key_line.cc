#include "nvme/auth/key_line.h"

#include <fmt/core.h>
#include <openssl/evp.h>

#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>

#include "core/bytes.h"

namespace forebay::nvme::auth {
namespace {

constexpr std::size_t kChecksumBytes = 4;
constexpr std::size_t kEncodedMax = 92;  // of 64 bytes and their checksum

// CRC-32 of ISO 3309, as gzip has it.
std::uint32_t crc32_of(std::span<const std::byte> bytes) {
  std::uint32_t crc = ~0U;
  for (const std::byte byte : bytes) {
    crc ^= std::to_integer<std::uint32_t>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0xEDB88320U : 0U);
  }
  return ~crc;
}

bool is_key_size(std::size_t size) { return size == 32 || size == 48 || size == 64; }

std::string_view trim(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

int sextet(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  if (c == '+') return 62;
  return c == '/' ? 63 : -1;
}

// Strict: no spaces, padding where it belongs, no bits beyond the last byte. Null: it is none.
std::optional<SecretBytes> decode_base64(std::string_view text) {
  if (text.size() % 4 != 0 || text.empty()) return std::nullopt;
  const std::size_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
  SecretBytes out(text.size() / 4 * 3 - padding);
  std::uint32_t bits = 0;
  std::size_t at = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool pad = i >= text.size() - padding;
    const int value = pad ? 0 : sextet(text[i]);
    if (value < 0) return std::nullopt;
    bits = (bits << 6) | static_cast<std::uint32_t>(value);
    if (i % 4 != 3) continue;
    for (int shift = 16; shift >= 0; shift -= 8) {
      const auto byte = static_cast<std::byte>((bits >> shift) & 0xFF);
      if (at < out.size()) {
        out.bytes()[at++] = byte;
      } else if (byte != std::byte{0}) {
        return std::nullopt;
      }
    }
    bits = 0;
  }
  return out;
}

}  // namespace

Result<KeyLine> parse_key_line(std::string_view text, const KeyLineForm& form) {
  text = trim(text);
  if (!text.starts_with(form.prefix)) return std::unexpected(form.wrong_prefix);
  text.remove_prefix(form.prefix.size());
  const std::size_t colon = text.find(':');
  if (colon != 2 || text[0] != '0' || text[1] < '0' || text[1] > '0' + form.transform_max) {
    return std::unexpected(form.wrong_transform);
  }
  const auto transform = static_cast<unsigned char>(text[1] - '0');
  text.remove_prefix(colon + 1);
  if (!text.ends_with(':')) return fail(Errc::kInvalid, "it does not end with a colon");
  text.remove_suffix(1);
  if (text.size() > kEncodedMax) return fail(Errc::kInvalid, "it is longer than any key");
  const auto decoded = decode_base64(text);
  if (!decoded) return fail(Errc::kInvalid, "its key is no base64");
  if (decoded->size() < kChecksumBytes || !is_key_size(decoded->size() - kChecksumBytes)) {
    return fail(Errc::kInvalid, "its key has none of 32, 48 and 64 bytes");
  }
  const auto key = decoded->bytes().first(decoded->size() - kChecksumBytes);
  const auto checksum = load_as<std::uint32_t>(decoded->bytes().last(kChecksumBytes));
  if (checksum != crc32_of(key)) {
    return fail(Errc::kCorrupt, "its checksum does not fit: a character is wrong");
  }
  return KeyLine{transform, SecretBytes(key)};
}

std::string key_line_text(const KeyLineForm& form, const KeyLine& line) {
  SecretBytes whole(line.key.size() + kChecksumBytes);
  std::memcpy(whole.bytes().data(), line.key.bytes().data(), line.key.size());
  const std::uint32_t checksum = crc32_of(line.key.bytes());
  std::memcpy(whole.bytes().data() + line.key.size(), &checksum, kChecksumBytes);
  return fmt::format("{}{:02}:{}:", form.prefix, static_cast<unsigned>(line.transform),
                     encode_base64(whole.bytes()));
}

std::string encode_base64(std::span<const std::byte> bytes) {
  std::string encoded(divide_up(bytes.size(), 3) * 4 + 1, '\0');  // OpenSSL ends it with a zero
  EVP_EncodeBlock(reinterpret_cast<unsigned char*>(encoded.data()),
                  reinterpret_cast<const unsigned char*>(bytes.data()),
                  static_cast<int>(bytes.size()));
  encoded.pop_back();
  return encoded;
}

}  // namespace forebay::nvme::auth
