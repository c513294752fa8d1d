// Bytes that are overwritten when they are not needed any more.
#pragma once

#include <openssl/crypto.h>

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace forebay::nvme::auth {

class SecretBytes {
 public:
  SecretBytes() = default;
  explicit SecretBytes(std::size_t size) : bytes_(size) {}
  explicit SecretBytes(std::span<const std::byte> bytes) : bytes_(bytes.begin(), bytes.end()) {}
  ~SecretBytes() { wipe(); }
  SecretBytes(const SecretBytes&) = default;
  SecretBytes(SecretBytes&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}
  SecretBytes& operator=(SecretBytes other) noexcept {
    bytes_.swap(other.bytes_);
    return *this;
  }

  [[nodiscard]] std::span<std::byte> bytes() { return bytes_; }
  [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }
  [[nodiscard]] std::size_t size() const { return bytes_.size(); }
  [[nodiscard]] bool empty() const { return bytes_.empty(); }

 private:
  void wipe() {
    if (!bytes_.empty()) OPENSSL_cleanse(bytes_.data(), bytes_.size());
  }
  std::vector<std::byte> bytes_;
};

}  // namespace forebay::nvme::auth
