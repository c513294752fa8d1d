// Any text is a size or none; a size that is written in bytes reads the same.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "core/bytes.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = forebay::parse_bytes({reinterpret_cast<const char*>(data), size});
  if (!bytes) return 0;
  if (forebay::parse_bytes(std::to_string(*bytes)) != bytes) std::abort();
  if (forebay::format_bytes(*bytes).empty()) std::abort();
  return 0;
}
