// The arithmetic of DH-HMAC-CHAP over OpenSSL: hashes, HMACs, Diffie-Hellman in the groups of
// RFC 7919, random bytes, and comparing in constant time.
//
// What OpenSSL cannot do for lack of memory is a FOREBAY_CHECK. Costs, measured on one core: a
// public value or a shared secret takes 0.5 ms with ffdhe2048, 2 ms with ffdhe4096 and 8 ms with
// ffdhe8192 (exponents are short), so it is done where it is needed, in the loop. Pure but for
// random_bytes().
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <initializer_list>
#include <optional>
#include <span>
#include <vector>

#include "nvme/auth/method.h"
#include "nvme/auth/secret_bytes.h"

namespace forebay::nvme::auth {

// Fills all of it; tests pass one that repeats itself.
using RandomSource = std::function<void(std::span<std::byte>)>;
void random_bytes(std::span<std::byte> bytes);

// A hash's value, or an HMAC's.
struct Mac {
  std::array<std::byte, kHashBytesMax> storage{};
  std::size_t size = 0;
  [[nodiscard]] std::span<const std::byte> bytes() const { return std::span(storage).first(size); }
};
using Pieces = std::initializer_list<std::span<const std::byte>>;
[[nodiscard]] Mac digest(HashId hash, std::span<const std::byte> bytes);
[[nodiscard]] Mac hmac(HashId hash, std::span<const std::byte> key, Pieces pieces);
// How long it takes says nothing of where they differ.
[[nodiscard]] bool same_bytes(std::span<const std::byte> a, std::span<const std::byte> b);

// One party's half of an exchange, for a group other than kNull; used for one authentication.
inline constexpr std::size_t kPrivateBytes = 56;  // RFC 7919, 5.2 asks for 400 bits at most
class DhKey {
 public:
  DhKey(GroupId group, const RandomSource& random);
  [[nodiscard]] GroupId group() const { return group_; }
  // Big-endian, of the group's length, as it goes over the wire.
  [[nodiscard]] std::span<const std::byte> public_value() const { return public_; }
  // With the peer's public value; of the group's length. Null: that is none (0, 1, p - 1, longer).
  [[nodiscard]] std::optional<SecretBytes> shared(std::span<const std::byte> peer) const;

 private:
  GroupId group_;
  SecretBytes private_;
  std::vector<std::byte> public_;
};

}  // namespace forebay::nvme::auth
