// The secret that two parties share, in the one line that NVMe has for it:
//
//   DHHC-1:hh:base64(key | CRC-32 of the key):
//
// hh is 00, or the hash (01 SHA-256, 02 SHA-384, 03 SHA-512) by which a key is made of it for the
// one party whose name it is used with. Keys have 32, 48 or 64 bytes. Values; pure. No message
// holds a part of it, and its memory is overwritten in the end.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "core/error.h"
#include "nvme/auth/crypto.h"

namespace forebay::nvme::auth {

class Secret {
 public:
  // A line end and spaces around it do not count. kInvalid: its literal says what is wrong with
  // it; kCorrupt: the checksum does not fit.
  [[nodiscard]] static Result<Secret> parse(std::string_view text);
  // `size` is 32, 48 or 64.
  [[nodiscard]] static Secret make(std::optional<HashId> transform, std::size_t size,
                                   const RandomSource& random);

  // The line, without an end.
  [[nodiscard]] std::string text() const;
  [[nodiscard]] std::optional<HashId> transform() const { return transform_; }
  [[nodiscard]] std::size_t size() const { return key_.size(); }
  // What the party of this name proves itself with.
  [[nodiscard]] SecretBytes key_of(std::string_view nqn) const;

 private:
  Secret(std::optional<HashId> transform, SecretBytes key)
      : transform_(transform), key_(std::move(key)) {}
  std::optional<HashId> transform_;
  SecretBytes key_;
};

}  // namespace forebay::nvme::auth
