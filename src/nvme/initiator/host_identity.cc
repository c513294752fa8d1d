#include "nvme/initiator/host_identity.h"

#include <fmt/core.h>

#include <algorithm>
#include <fstream>

#include "core/hash.h"

namespace forebay::nvme::initiator {
namespace {

// A version 8 UUID (RFC 9562) of a text's SHA-256.
std::array<std::byte, 16> uuid_of(const std::string& text) {
  const Digest digest = sha256(text);
  std::array<std::byte, 16> uuid{};
  std::copy_n(digest.begin(), uuid.size(), uuid.begin());
  uuid[6] = (uuid[6] & std::byte{0x0F}) | std::byte{0x80};
  uuid[8] = (uuid[8] & std::byte{0x3F}) | std::byte{0x80};
  return uuid;
}

std::string machine_nqn() {
  std::string machine;
  std::ifstream("/etc/machine-id") >> machine;
  const std::string hex = to_hex(uuid_of("forebay host " + machine));
  return fmt::format("nqn.2014-08.org.nvmexpress:uuid:{}-{}-{}-{}-{}", hex.substr(0, 8),
                     hex.substr(8, 4), hex.substr(12, 4), hex.substr(16, 4), hex.substr(20));
}

}  // namespace

HostIdentity host_identity(const std::string& nqn) {
  HostIdentity host;
  host.nqn = nqn.empty() ? machine_nqn() : nqn;
  host.id = uuid_of(host.nqn);
  return host;
}

}  // namespace forebay::nvme::initiator
