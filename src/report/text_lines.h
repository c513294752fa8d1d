// Lines of a text, and a line as it is shown in a message. Pure.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace forebay::report {

inline constexpr std::size_t kShownBytesMax = 80;

// Calls `each` with every line; what follows the last newline is one, too.
template <class Each>
void for_each_line(std::string_view text, Each each) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    each(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

// Without what it is indented by, and cut where it is long.
[[nodiscard]] inline std::string shown(std::string_view line) {
  const std::size_t begin = std::min(line.find_first_not_of(' '), line.size());
  const std::string_view trimmed = line.substr(begin);
  if (trimmed.size() <= kShownBytesMax) return std::string(trimmed);
  return std::string(trimmed.substr(0, kShownBytesMax - 3)) + "...";
}

}  // namespace forebay::report
