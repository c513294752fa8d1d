#include "nvme/target/namespace.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/hash.h"

namespace forebay::nvme::target {

Uuid make_uuid(std::string_view nqn, std::uint32_t namespace_id) {
  const std::string name = fmt::format("{}\n{}", nqn, namespace_id);
  const auto digest = sha256(std::as_bytes(std::span(name)));
  Uuid uuid;
  std::copy_n(digest.begin(), uuid.size(), uuid.begin());
  // RFC 9562: version 8 (made by the application), variant 10b.
  uuid[6] = (uuid[6] & std::byte{0x0F}) | std::byte{0x80};
  uuid[8] = (uuid[8] & std::byte{0x3F}) | std::byte{0x80};
  return uuid;
}

}  // namespace forebay::nvme::target
