// For tests: a text many times.
#pragma once

#include <string>
#include <string_view>

namespace forebay {

[[nodiscard]] inline std::string repeated(std::string_view text, std::size_t times) {
  std::string all;
  for (std::size_t i = 0; i < times; ++i) all += text;
  return all;
}

}  // namespace forebay
