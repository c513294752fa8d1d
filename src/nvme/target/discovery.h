// The discovery log page, 70h (Base Specification 2.0, 5.16.1.23): who can be reached where. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "nvme/target/connect.h"
#include "nvme/tls/mode.h"

namespace forebay::nvme::target {

enum class AddressFamily : std::uint8_t { kIpv4 = 1, kIpv6 = 2 };

struct PortAddress {
  AddressFamily family = AddressFamily::kIpv4;
  std::string host;  // numeric
  std::uint16_t port = 0;
  std::uint16_t id = 1;
  tls::TlsMode tls = tls::TlsMode::kOff;
};

inline constexpr std::size_t kDiscoveryEntryBytes = 1024;
// A header and an entry for each subsystem that admits the host at each port. `generation` changes
// when the list does.
[[nodiscard]] std::vector<std::byte> make_discovery_log(const Subsystems& subsystems,
                                                        const std::vector<PortAddress>& ports,
                                                        std::uint64_t generation,
                                                        const std::string& host_nqn);

}  // namespace forebay::nvme::target
