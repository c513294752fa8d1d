// The keys of a configuration, each once: name, type, range, meaning. A reader, a writer and a
// page walk the same visit() functions, so that they cannot differ.
//
// Pure.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace forebay::config {

struct Key {
  std::string_view name;
  std::string_view help;
};

struct CountRange {
  std::uint64_t min = 0;
  std::uint64_t max = std::numeric_limits<std::uint64_t>::max() / 2;
};
struct NumberRange {
  double min = 0;
  double max = 1e18;
  bool or_zero = false;  // 0 has a meaning of its own, below `min`
};
[[nodiscard]] constexpr bool holds(const NumberRange& range, double value) {
  return (range.or_zero && value == 0) || (value >= range.min && value <= range.max);
}

class FieldVisitor {
 public:
  virtual ~FieldVisitor() = default;
  virtual void text(const Key& key, std::string& value) = 0;
  virtual void word(const Key& key, std::string& value,
                    std::span<const std::string_view> allowed) = 0;
  virtual void count(const Key& key, std::uint64_t& value, CountRange range) = 0;
  // An integer or a text such as "4GiB"; a rate in bytes likewise.
  virtual void bytes(const Key& key, std::uint64_t& value, CountRange range) = 0;
  virtual void rate(const Key& key, double& value, NumberRange range) = 0;
  virtual void number(const Key& key, double& value, NumberRange range) = 0;
  virtual void toggle(const Key& key, bool& value) = 0;
  virtual void texts(const Key& key, std::vector<std::string>& values) = 0;
  virtual void maybe(const Key& key, std::optional<double>& value) = 0;
};

inline constexpr std::size_t kDocumentBytesMax = std::size_t{1} << 20;
inline constexpr std::size_t kListMax = 64;  // entries of a list, sections of a kind

}  // namespace forebay::config
