#include "nvme/initiator/host_identity.h"

#include <fmt/core.h>

#include <fstream>

#include "core/hash.h"
#include "nvme/identity.h"

namespace forebay::nvme::initiator {
namespace {

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
