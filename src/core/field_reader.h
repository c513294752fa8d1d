// Takes fields from the front of raw bytes, one after another: for the bodies of on-disk formats.
//
// Nothing is taken of what is not wholly there. Little-endian, unaligned. What is returned as a
// view lives as long as the bytes. Pure.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "core/bytes.h"

namespace forebay {

class FieldReader {
 public:
  explicit FieldReader(std::span<const std::byte> bytes) : left_(bytes) {}

  template <class T>
    requires std::is_trivially_copyable_v<T>
  [[nodiscard]] bool take(T& value) {
    if (left_.size() < sizeof(T)) return false;
    value = load_as<T>(left_);
    left_ = left_.subspan(sizeof(T));
    return true;
  }
  [[nodiscard]] bool take_bytes(std::size_t count, std::span<const std::byte>& bytes) {
    if (left_.size() < count) return false;
    bytes = left_.first(count);
    left_ = left_.subspan(count);
    return true;
  }
  [[nodiscard]] bool take_text(std::size_t count, std::string_view& text) {
    std::span<const std::byte> bytes;
    if (!take_bytes(count, bytes)) return false;
    text = {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
    return true;
  }
  [[nodiscard]] bool at_end() const { return left_.empty(); }

 private:
  std::span<const std::byte> left_;
};

}  // namespace forebay
