// The one line in which NVMe writes keys, of authentication and of TLS alike:
//
//   PREFIX-1:hh:base64(key | CRC-32 of the key):
//
// Values; pure. No error holds a part of a key.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "core/error.h"
#include "nvme/auth/secret_bytes.h"

namespace forebay::nvme::auth {

inline constexpr std::size_t kKeyLineMax = 128;  // bytes of the line and more

struct KeyLineForm {
  std::string_view prefix;      // with its colon
  unsigned char transform_max;  // of hh, which begins with 0
  Error wrong_prefix;
  Error wrong_transform;
};

struct KeyLine {
  unsigned char transform = 0;
  SecretBytes key;  // of 32, 48 or 64 bytes
};

// A line end and spaces around it do not count. kInvalid: its literal says what is wrong with it;
// kCorrupt: the checksum does not fit.
[[nodiscard]] Result<KeyLine> parse_key_line(std::string_view text, const KeyLineForm& form);
// The line, without an end.
[[nodiscard]] std::string key_line_text(const KeyLineForm& form, const KeyLine& line);

// With padding, without line ends.
[[nodiscard]] std::string encode_base64(std::span<const std::byte> bytes);

}  // namespace forebay::nvme::auth
