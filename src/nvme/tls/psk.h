// Pre-shared keys of NVMe/TCP over TLS 1.3 (TCP Transport Specification 1.1, 3.6.1): the line that
// a user holds, and what a handshake between two named parties uses of it.
//
//   configured key ──(the host's NQN)──▶ retained key ──(both NQNs)──▶ identity, TLS key
//
// Values; pure. No error holds a part of a key.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/error.h"
#include "nvme/auth/crypto.h"

namespace forebay::nvme::tls {

// Of keys and cipher suites alike: TLS_AES_128_GCM_SHA256 and TLS_AES_256_GCM_SHA384.
enum class PskHash : std::uint8_t { kSha256 = 1, kSha384 = 2 };
[[nodiscard]] std::string_view to_string(PskHash hash);     // "sha256"
[[nodiscard]] std::string_view cipher_suite(PskHash hash);  // "TLS_AES_128_GCM_SHA256"
[[nodiscard]] std::size_t key_bytes(PskHash hash);          // 32, 48

// Of the identity: 0 has the names alone, 1 a digest of the key too.
enum class IdentityVersion : std::uint8_t { kNames = 0, kDigest = 1 };

// How the keys follow from each other. libnvme before 1.16 wrote the label of HKDF-Expand-Label
// without the lengths in it, and its own length in little endian.
enum class Derivation : std::uint8_t { kSpec, kCompat };
inline constexpr std::array kDerivations{Derivation::kSpec, Derivation::kCompat};
[[nodiscard]] std::string_view to_string(Derivation derivation);  // "spec", "compat"

// NVMeTLSkey-1:hh:base64(key | CRC-32 of the key):
//
// hh is 00, or the hash by which a retained key is made of it for its host: 01 SHA-256 of a key of
// 32 bytes, 02 SHA-384 of one of 48.
class TlsKey {
 public:
  // A line end and spaces around it do not count. kInvalid: its literal says what is wrong with it;
  // kCorrupt: the checksum does not fit.
  [[nodiscard]] static Result<TlsKey> parse(std::string_view text);
  // Bound to its host's name, or, where `bound` is false, used as it is.
  [[nodiscard]] static TlsKey make(PskHash hash, bool bound, const auth::RandomSource& random);

  // The line, without an end.
  [[nodiscard]] std::string text() const;
  [[nodiscard]] PskHash hash() const { return hash_; }
  [[nodiscard]] bool bound() const { return bound_; }
  [[nodiscard]] auth::SecretBytes retained(std::string_view host_nqn, Derivation derivation) const;

 private:
  TlsKey(PskHash hash, bool bound, auth::SecretBytes key)
      : hash_(hash), bound_(bound), key_(std::move(key)) {}
  PskHash hash_;
  bool bound_;
  auth::SecretBytes key_;
};

struct PskParties {
  std::string host_nqn;
  std::string subsystem_nqn;
  friend bool operator==(const PskParties&, const PskParties&) = default;
};

// What a handshake uses.
struct Psk {
  std::string identity;
  PskHash hash = PskHash::kSha256;
  auth::SecretBytes key;
  Derivation derivation = Derivation::kSpec;
};

// kInvalid: the names are too long together for an identity of kNames, which HKDF-Expand-Label
// takes to 255 bytes.
[[nodiscard]] Result<Psk> derive_psk(const TlsKey& key, const PskParties& parties,
                                     IdentityVersion version, Derivation derivation);

// An identity that came over the wire: "NVMe0R01 HOSTNQN SUBNQN", "NVMe1R01 HOSTNQN SUBNQN DIGEST".
struct PskIdentity {
  IdentityVersion version = IdentityVersion::kNames;
  PskHash hash = PskHash::kSha256;
  PskParties parties;
  std::string digest;  // of kDigest
};
inline constexpr std::size_t kIdentityBytesMax = 2 * 223 + 80;
// Null: it is none.
[[nodiscard]] std::optional<PskIdentity> parse_identity(std::string_view text);

}  // namespace forebay::nvme::tls
