// Sizes, alignment, little-endian fields, and sizes as people write them ("200G", "256KiB").
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

namespace forebay {

inline constexpr std::uint64_t kKiB = 1024;
inline constexpr std::uint64_t kMiB = 1024 * kKiB;
inline constexpr std::uint64_t kGiB = 1024 * kMiB;
inline constexpr std::uint64_t kTiB = 1024 * kGiB;

[[nodiscard]] constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) {
  return (value + unit - 1) / unit * unit;
}
[[nodiscard]] constexpr std::uint64_t round_down(std::uint64_t value, std::uint64_t unit) {
  return value / unit * unit;
}
[[nodiscard]] constexpr std::uint64_t divide_up(std::uint64_t value, std::uint64_t unit) {
  return (value + unit - 1) / unit;
}
[[nodiscard]] inline bool is_aligned(const void* pointer, std::uint64_t unit) {
  return reinterpret_cast<std::uintptr_t>(pointer) % unit == 0;
}

static_assert(std::endian::native == std::endian::little,
              "on-disk formats are little-endian; a big-endian port must convert");

// Reads or writes a trivially copyable struct at the head of raw bytes; the caller checked the
// size.
template <class T>
  requires std::is_trivially_copyable_v<T>
[[nodiscard]] T load_as(std::span<const std::byte> bytes) {
  T value;
  std::memcpy(&value, bytes.data(), sizeof(T));
  return value;
}
template <class T>
  requires std::is_trivially_copyable_v<T>
void store_as(std::span<std::byte> bytes, const T& value) {
  std::memcpy(bytes.data(), &value, sizeof(T));
}
template <class T>
  requires std::is_trivially_copyable_v<T>
[[nodiscard]] std::span<const std::byte> bytes_of(const T& value) {
  return std::as_bytes(std::span(&value, 1));
}

// "64", "4K", "4KiB", "1.5G", "10TB": K, M, G, T are powers of 1024 with or without "iB";
// "KB", "MB", "GB", "TB" are powers of 1000. nullopt when it is none of these or overflows.
[[nodiscard]] std::optional<std::uint64_t> parse_bytes(std::string_view text);

// "256 KiB", "1.50 GiB": for people, never for parsing back.
[[nodiscard]] std::string format_bytes(std::uint64_t bytes);

}  // namespace forebay
