// Any bytes are shown without a control character, and what was shown is shown the same again.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "core/printable.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string shown = forebay::printable({reinterpret_cast<const char*>(data), size});
  if (std::ranges::any_of(shown, [](char c) { return (c >= 0 && c < ' ') || c == '\x7f'; })) {
    std::abort();
  }
  if (forebay::printable(shown) != shown) std::abort();
  return 0;
}
