#include "nvme/initiator/host_identity.h"

#include <fmt/core.h>
#include <sys/random.h>
#include <unistd.h>

#include <array>
#include <fstream>

#include "core/clock.h"
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
  // Should there be no random numbers, the process and the time still tell most of them apart.
  std::array<std::byte, 16> random{};
  (void)::getrandom(random.data(), random.size(), 0);
  host.id =
      uuid_of(fmt::format("{} {} {} {}", host.nqn, ::getpid(), wall_time_ns(), to_hex(random)));
  return host;
}

}  // namespace forebay::nvme::initiator
