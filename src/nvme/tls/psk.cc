#include "nvme/tls/psk.h"

#include <fmt/core.h>

#include <cstring>
#include <utility>
#include <vector>

#include "core/check.h"
#include "nvme/auth/key_line.h"
#include "nvme/identity.h"

namespace forebay::nvme::tls {
namespace {

constexpr auth::KeyLineForm kForm{
    .prefix = "NVMeTLSkey-1:",
    .transform_max = 2,
    .wrong_prefix = {Errc::kInvalid, "it does not begin with NVMeTLSkey-1:"},
    .wrong_transform = {Errc::kInvalid,
                        "after NVMeTLSkey-1: stands none of 00, 01, 02 and a colon"}};
constexpr std::string_view kDigestText = "NVMe-over-Fabrics";
constexpr std::size_t kContextBytesMax = 255;  // its length is one byte

auth::HashId hash_id(PskHash hash) {
  return hash == PskHash::kSha256 ? auth::HashId::kSha256 : auth::HashId::kSha384;
}

std::span<const std::byte> bytes_of_text(std::string_view text) {
  return std::as_bytes(std::span(text));
}

struct Label {
  std::string_view name;
  std::string_view context;
};

// HkdfLabel of RFC 8446, 7.1; or what was taken for it.
std::string label_bytes(const Label& label, std::size_t size, Derivation derivation) {
  const std::string name = fmt::format("tls13 {}", label.name);
  std::string bytes;
  if (derivation == Derivation::kCompat) {
    bytes += static_cast<char>(size & 0xFF);
    bytes += static_cast<char>(size >> 8);
    return bytes.append(name).append(label.context);
  }
  FOREBAY_CHECK(label.context.size() <= kContextBytesMax);
  bytes += static_cast<char>(size >> 8);
  bytes += static_cast<char>(size & 0xFF);
  bytes += static_cast<char>(name.size());
  bytes += name;
  bytes += static_cast<char>(label.context.size());
  return bytes.append(label.context);
}

// HKDF-Extract without a salt, then HKDF-Expand-Label to the hash's own length: one block.
auth::SecretBytes derive(PskHash hash, std::span<const std::byte> key, const Label& label,
                         Derivation derivation) {
  const std::vector<std::byte> no_salt(key_bytes(hash));
  const auth::Mac extracted = auth::hmac(hash_id(hash), no_salt, {key});
  const std::string info = label_bytes(label, key_bytes(hash), derivation);
  constexpr std::array kFirstBlock{std::byte{1}};
  const auth::Mac made =
      auth::hmac(hash_id(hash), extracted.bytes(), {bytes_of_text(info), kFirstBlock});
  return auth::SecretBytes(made.bytes());
}

}  // namespace

std::string_view to_string(PskHash hash) { return hash == PskHash::kSha256 ? "sha256" : "sha384"; }

std::string_view cipher_suite(PskHash hash) {
  return hash == PskHash::kSha256 ? "TLS_AES_128_GCM_SHA256" : "TLS_AES_256_GCM_SHA384";
}

std::size_t key_bytes(PskHash hash) { return hash == PskHash::kSha256 ? 32 : 48; }

std::string_view to_string(Derivation derivation) {
  return derivation == Derivation::kSpec ? "spec" : "compat";
}

Result<TlsKey> TlsKey::parse(std::string_view text) {
  FOREBAY_TRY(line, auth::parse_key_line(text, kForm));
  const std::size_t size = line.key.size();
  if (size != 32 && size != 48) {
    return fail(Errc::kInvalid, "its key has neither 32 nor 48 bytes");
  }
  const PskHash hash = size == 32 ? PskHash::kSha256 : PskHash::kSha384;
  if (line.transform != 0 && line.transform != static_cast<unsigned char>(hash)) {
    return fail(Errc::kInvalid, "its hash does not fit its length: 01 has 32 bytes, 02 has 48");
  }
  return TlsKey(hash, line.transform != 0, std::move(line.key));
}

TlsKey TlsKey::make(PskHash hash, bool bound, const auth::RandomSource& random) {
  auth::SecretBytes key(key_bytes(hash));
  random(key.bytes());
  return {hash, bound, std::move(key)};
}

std::string TlsKey::text() const {
  const auto transform = bound_ ? static_cast<unsigned char>(hash_) : static_cast<unsigned char>(0);
  return auth::key_line_text(kForm, {transform, key_});
}

auth::SecretBytes TlsKey::retained(std::string_view host_nqn, Derivation derivation) const {
  if (!bound_) return key_;
  return derive(hash_, key_.bytes(), {"HostNQN", host_nqn}, derivation);
}

Result<Psk> derive_psk(const TlsKey& key, const PskParties& parties, IdentityVersion version,
                       Derivation derivation) {
  const PskHash hash = key.hash();
  const auto number = static_cast<unsigned>(hash);
  const auth::SecretBytes retained = key.retained(parties.host_nqn, derivation);
  Psk psk{.hash = hash, .derivation = derivation};
  psk.identity = fmt::format("NVMe{}R{:02} {} {}", static_cast<unsigned>(version), number,
                             parties.host_nqn, parties.subsystem_nqn);
  std::string context = psk.identity;
  if (version == IdentityVersion::kDigest) {
    const std::string names =
        fmt::format("{} {} {}", parties.host_nqn, parties.subsystem_nqn, kDigestText);
    const auth::Mac digest = auth::hmac(hash_id(hash), retained.bytes(), {bytes_of_text(names)});
    const std::string encoded = auth::encode_base64(digest.bytes());
    psk.identity += " " + encoded;
    context = fmt::format("{:02} {}", number, encoded);
  }
  if (context.size() > kContextBytesMax) {
    return fail(Errc::kInvalid, "tls: the NQNs of host and subsystem are too long for identity 0");
  }
  psk.key = derive(hash, retained.bytes(), {"nvme-tls-psk", context}, derivation);
  return psk;
}

std::optional<PskIdentity> parse_identity(std::string_view text) {
  constexpr std::size_t kHeadBytes = 9;  // "NVMe1R01 "
  if (text.size() > kIdentityBytesMax || text.size() < kHeadBytes) return std::nullopt;
  const std::string_view head = text.substr(0, kHeadBytes);
  PskIdentity identity;
  if (!head.starts_with("NVMe") || head.substr(5, 2) != "R0" || head[8] != ' ') return std::nullopt;
  if (head[4] != '0' && head[4] != '1') return std::nullopt;
  if (head[7] != '1' && head[7] != '2') return std::nullopt;
  identity.version = head[4] == '0' ? IdentityVersion::kNames : IdentityVersion::kDigest;
  identity.hash = head[7] == '1' ? PskHash::kSha256 : PskHash::kSha384;
  std::vector<std::string_view> words;
  for (std::string_view rest = text.substr(kHeadBytes); words.size() < 4;) {
    const std::size_t space = rest.find(' ');
    words.push_back(rest.substr(0, space));
    if (space == std::string_view::npos) break;
    rest.remove_prefix(space + 1);
  }
  if (words.size() != (identity.version == IdentityVersion::kNames ? 2U : 3U)) return std::nullopt;
  identity.parties = {std::string(words[0]), std::string(words[1])};
  if (words.size() == 3) identity.digest = words[2];
  if (!is_nqn(identity.parties.host_nqn) || !is_nqn(identity.parties.subsystem_nqn)) {
    return std::nullopt;
  }
  return identity;
}

}  // namespace forebay::nvme::tls
