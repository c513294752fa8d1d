// A data structure that the specification draws as bytes at offsets: Identify pages, log pages.
//
// The caller gives the memory, which is zeroed: what the specification reserves stays 0. An offset
// beyond the memory is a programmer error. Pure.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "core/bytes.h"
#include "core/check.h"

namespace forebay::nvme {

inline constexpr std::size_t kIdentifyBytes = 4096;

class DataPage {
 public:
  explicit DataPage(std::span<std::byte> bytes) : bytes_(bytes) {
    std::ranges::fill(bytes_, std::byte{0});
  }
  template <class T>
  void put(std::size_t offset, const T& value) {
    FOREBAY_CHECK_LE(offset + sizeof(T), bytes_.size());
    store_as(bytes_.subspan(offset), value);
  }
  // Cut to `size`; the rest is `fill` (ASCII fields are padded with spaces, names with zeroes).
  void put_text(std::size_t offset, std::size_t size, std::string_view text, char fill = ' ') {
    FOREBAY_CHECK_LE(offset + size, bytes_.size());
    const auto field = bytes_.subspan(offset, size);
    std::ranges::fill(field, static_cast<std::byte>(fill));
    std::memcpy(field.data(), text.data(), std::min(size, text.size()));
  }
  void put_bytes(std::size_t offset, std::span<const std::byte> bytes) {
    FOREBAY_CHECK_LE(offset + bytes.size(), bytes_.size());
    std::ranges::copy(bytes, bytes_.begin() + static_cast<std::ptrdiff_t>(offset));
  }

 private:
  std::span<std::byte> bytes_;
};

}  // namespace forebay::nvme
