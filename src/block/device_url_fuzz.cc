// Any text is a device URL or a clear refusal.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "block/device_url.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto parsed = forebay::block::parse_device_url({reinterpret_cast<const char*>(data), size});
  if (parsed && parsed->paths.empty()) std::abort();  // no scheme was added
  return 0;
}
