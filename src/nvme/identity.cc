#include "nvme/identity.h"

#include <algorithm>
#include <span>

#include "core/hash.h"

namespace forebay::nvme {

bool is_nqn(std::string_view text) {
  constexpr std::size_t kBytesMax = 223;
  return text.starts_with("nqn.") && text.size() <= kBytesMax;
}

Uuid uuid_of(std::string_view text) {
  const auto digest = sha256(std::as_bytes(std::span(text)));
  Uuid uuid;
  std::copy_n(digest.begin(), uuid.size(), uuid.begin());
  // Version 8 (made by the application), variant 10b.
  uuid[6] = (uuid[6] & std::byte{0x0F}) | std::byte{0x80};
  uuid[8] = (uuid[8] & std::byte{0x3F}) | std::byte{0x80};
  return uuid;
}

}  // namespace forebay::nvme
