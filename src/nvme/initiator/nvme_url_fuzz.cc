// Any text is a URL with every part within its bounds, or a clear refusal.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "nvme/initiator/fabric_url.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto url =
      forebay::nvme::initiator::parse_fabric_url({reinterpret_cast<const char*>(data), size});
  if (!url) return 0;
  if (url->host.empty() || url->port == 0 || !url->nqn.starts_with("nqn.")) std::abort();
  if (url->nsid == 0 || url->queues == 0 || url->queues > 16 || url->depth == 0) std::abort();
  return 0;
}
