#include "nvme/auth/crypto.h"

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <openssl/rand.h>

#include <algorithm>
#include <climits>
#include <memory>
#include <string>
#include <utility>

#include "core/check.h"

namespace forebay::nvme::auth {
namespace {

template <auto kFree>
struct Freed {
  template <class T>
  void operator()(T* held) const {
    kFree(held);
  }
};
using Number = std::unique_ptr<BIGNUM, Freed<BN_clear_free>>;
using Key = std::unique_ptr<EVP_PKEY, Freed<EVP_PKEY_free>>;
using KeyContext = std::unique_ptr<EVP_PKEY_CTX, Freed<EVP_PKEY_CTX_free>>;
using ParamBuild = std::unique_ptr<OSSL_PARAM_BLD, Freed<OSSL_PARAM_BLD_free>>;
using Params = std::unique_ptr<OSSL_PARAM, Freed<OSSL_PARAM_free>>;
using MacAlgorithm = std::unique_ptr<EVP_MAC, Freed<EVP_MAC_free>>;
using MacContext = std::unique_ptr<EVP_MAC_CTX, Freed<EVP_MAC_CTX_free>>;

const char* openssl_name(HashId hash) {
  constexpr std::array<const char*, 3> kNames{"SHA256", "SHA384", "SHA512"};
  return kNames[static_cast<std::size_t>(hash) - 1];
}

const unsigned char* raw(std::span<const std::byte> bytes) {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}
unsigned char* writable(std::span<std::byte> bytes) {
  return reinterpret_cast<unsigned char*>(bytes.data());
}

Number number_of(std::span<const std::byte> big_endian) {
  Number number(BN_secure_new());
  FOREBAY_CHECK(number != nullptr);
  FOREBAY_CHECK(BN_bin2bn(raw(big_endian), static_cast<int>(big_endian.size()), number.get()) !=
                nullptr);
  return number;
}

// A key of a group by its numbers; a private one brings any public one.
Key make_key(GroupId group, const BIGNUM* private_number, const BIGNUM* public_number) {
  const ParamBuild build(OSSL_PARAM_BLD_new());
  FOREBAY_CHECK(build != nullptr);
  const std::string name(to_string(group));
  FOREBAY_CHECK_EQ(
      OSSL_PARAM_BLD_push_utf8_string(build.get(), OSSL_PKEY_PARAM_GROUP_NAME, name.c_str(), 0), 1);
  FOREBAY_CHECK_EQ(OSSL_PARAM_BLD_push_BN(build.get(), OSSL_PKEY_PARAM_PUB_KEY, public_number), 1);
  if (private_number != nullptr) {
    FOREBAY_CHECK_EQ(OSSL_PARAM_BLD_push_BN(build.get(), OSSL_PKEY_PARAM_PRIV_KEY, private_number),
                     1);
  }
  const Params params(OSSL_PARAM_BLD_to_param(build.get()));
  const KeyContext context(EVP_PKEY_CTX_new_from_name(nullptr, "DH", nullptr));
  FOREBAY_CHECK(params != nullptr && context != nullptr);
  EVP_PKEY* made = nullptr;
  FOREBAY_CHECK_EQ(EVP_PKEY_fromdata_init(context.get()), 1);
  const int kind = private_number != nullptr ? EVP_PKEY_KEYPAIR : EVP_PKEY_PUBLIC_KEY;
  FOREBAY_CHECK_EQ(EVP_PKEY_fromdata(context.get(), &made, kind, params.get()), 1);
  return Key(made);
}

// base^exponent of the group, with leading zeroes. The base was checked: OpenSSL would do so by
// another exponentiation, with an exponent of the group's length. Null: it does not like the base.
std::optional<SecretBytes> power(GroupId group, std::span<const std::byte> exponent,
                                 const BIGNUM* base) {
  const Key own = make_key(group, number_of(exponent).get(), base);
  const Key peer = make_key(group, nullptr, base);
  const KeyContext context(EVP_PKEY_CTX_new_from_pkey(nullptr, own.get(), nullptr));
  FOREBAY_CHECK(context != nullptr);
  FOREBAY_CHECK_EQ(EVP_PKEY_derive_init(context.get()), 1);
  if (EVP_PKEY_derive_set_peer_ex(context.get(), peer.get(), 0) != 1) return std::nullopt;
  unsigned pad = 1;
  const std::array<OSSL_PARAM, 2> params{OSSL_PARAM_construct_uint(OSSL_EXCHANGE_PARAM_PAD, &pad),
                                         OSSL_PARAM_construct_end()};
  FOREBAY_CHECK_EQ(EVP_PKEY_CTX_set_params(context.get(), params.data()), 1);
  SecretBytes value(group_bytes(group));
  std::size_t size = value.size();
  const bool derived = EVP_PKEY_derive(context.get(), writable(value.bytes()), &size) == 1;
  return derived && size == value.size() ? std::optional(std::move(value)) : std::nullopt;
}

// 1 < value < p - 1 (RFC 7919, 5.1): of a safe prime nothing smaller is left to hide in.
bool in_range(GroupId group, const BIGNUM* value) {
  const Number two = number_of(std::array{std::byte{2}});
  const Key key = make_key(group, nullptr, two.get());
  BIGNUM* prime = nullptr;
  FOREBAY_CHECK_EQ(EVP_PKEY_get_bn_param(key.get(), OSSL_PKEY_PARAM_FFC_P, &prime), 1);
  const Number most(prime);
  FOREBAY_CHECK_EQ(BN_sub_word(most.get(), 1), 1);
  return BN_cmp(value, two.get()) >= 0 && BN_cmp(value, most.get()) < 0;
}

}  // namespace

void random_bytes(std::span<std::byte> bytes) {
  FOREBAY_CHECK(bytes.size() <= INT_MAX);
  FOREBAY_CHECK_EQ(RAND_bytes(writable(bytes), static_cast<int>(bytes.size())), 1);
}

Mac digest(HashId hash, std::span<const std::byte> bytes) {
  Mac made;
  FOREBAY_CHECK_EQ(EVP_Q_digest(nullptr, openssl_name(hash), nullptr, bytes.data(), bytes.size(),
                                writable(made.storage), &made.size),
                   1);
  return made;
}

Mac hmac(HashId hash, std::span<const std::byte> key, Pieces pieces) {
  const MacAlgorithm algorithm(EVP_MAC_fetch(nullptr, "HMAC", nullptr));
  FOREBAY_CHECK(algorithm != nullptr);
  const MacContext context(EVP_MAC_CTX_new(algorithm.get()));
  FOREBAY_CHECK(context != nullptr);
  std::string name(openssl_name(hash));
  const std::array<OSSL_PARAM, 2> params{
      OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, name.data(), 0),
      OSSL_PARAM_construct_end()};
  FOREBAY_CHECK_EQ(EVP_MAC_init(context.get(), raw(key), key.size(), params.data()), 1);
  for (const auto piece : pieces) {
    FOREBAY_CHECK_EQ(EVP_MAC_update(context.get(), raw(piece), piece.size()), 1);
  }
  Mac made;
  FOREBAY_CHECK_EQ(
      EVP_MAC_final(context.get(), writable(made.storage), &made.size, made.storage.size()), 1);
  return made;
}

bool same_bytes(std::span<const std::byte> a, std::span<const std::byte> b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

DhKey::DhKey(GroupId group, const RandomSource& random) : group_(group), private_(kPrivateBytes) {
  random(private_.bytes());
  private_.bytes()[0] |= std::byte{0x80};  // of full length, whatever came
  const Number two = number_of(std::array{std::byte{2}});
  const auto made = power(group, private_.bytes(), two.get());
  FOREBAY_CHECK(made.has_value());
  public_.assign(made->bytes().begin(), made->bytes().end());
}

std::optional<SecretBytes> DhKey::shared(std::span<const std::byte> peer) const {
  if (peer.size() != group_bytes(group_)) return std::nullopt;
  const Number value = number_of(peer);
  if (!in_range(group_, value.get())) return std::nullopt;
  return power(group_, private_.bytes(), value.get());
}

}  // namespace forebay::nvme::auth
