// Hashes: SHA-256 for identity (collisions must not exist), XXH3 for tables (they may).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace forebay {

using Digest = std::array<std::byte, 32>;

// XXH3, 64 bits. Stable across machines; not for security.
[[nodiscard]] std::uint64_t hash64(std::span<const std::byte> bytes, std::uint64_t seed = 0);
[[nodiscard]] std::uint64_t hash64(std::string_view text, std::uint64_t seed = 0);

[[nodiscard]] Digest sha256(std::span<const std::byte> bytes);
[[nodiscard]] Digest sha256(std::string_view text);

// Incremental SHA-256. One owner; reusable after finish().
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;
  void update(std::span<const std::byte> bytes);
  void update(std::string_view text);
  [[nodiscard]] Digest finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Lower-case hexadecimal.
[[nodiscard]] std::string to_hex(std::span<const std::byte> bytes);

}  // namespace forebay
