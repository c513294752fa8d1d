#include "core/hash.h"

#include <openssl/evp.h>
#include <xxhash.h>

#include "core/check.h"

namespace forebay {

std::uint64_t hash64(std::span<const std::byte> bytes, std::uint64_t seed) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

std::uint64_t hash64(std::string_view text, std::uint64_t seed) {
  return hash64(std::as_bytes(std::span(text)), seed);
}

struct Sha256::State {
  // Fetched once: EVP_sha256() would look the algorithm up again in every init.
  EVP_MD* algorithm = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  ~State() {
    EVP_MD_CTX_free(context);
    EVP_MD_free(algorithm);
  }
};

Sha256::Sha256() : state_(std::make_unique<State>()) {
  FOREBAY_CHECK(state_->algorithm != nullptr && state_->context != nullptr);
  FOREBAY_CHECK_EQ(EVP_DigestInit_ex(state_->context, state_->algorithm, nullptr), 1);
}

Sha256::~Sha256() = default;

void Sha256::update(std::span<const std::byte> bytes) {
  FOREBAY_CHECK_EQ(EVP_DigestUpdate(state_->context, bytes.data(), bytes.size()), 1);
}

void Sha256::update(std::string_view text) { update(std::as_bytes(std::span(text))); }

Digest Sha256::finish() {
  Digest digest{};
  FOREBAY_CHECK_EQ(
      EVP_DigestFinal_ex(state_->context, reinterpret_cast<unsigned char*>(digest.data()), nullptr),
      1);
  FOREBAY_CHECK_EQ(EVP_DigestInit_ex(state_->context, state_->algorithm, nullptr), 1);
  return digest;
}

Digest sha256(std::span<const std::byte> bytes) {
  thread_local Sha256 hasher;
  hasher.update(bytes);
  return hasher.finish();
}

Digest sha256(std::string_view text) { return sha256(std::as_bytes(std::span(text))); }

std::string to_hex(std::span<const std::byte> bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  text.reserve(bytes.size() * 2);
  for (const std::byte byte : bytes) {
    text += kDigits[std::to_integer<std::size_t>(byte >> 4)];
    text += kDigits[std::to_integer<std::size_t>(byte & std::byte{15})];
  }
  return text;
}

}  // namespace forebay
