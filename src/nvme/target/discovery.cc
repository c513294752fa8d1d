#include "nvme/target/discovery.h"

#include <fmt/core.h>

#include <algorithm>

#include "nvme/data_page.h"

namespace forebay::nvme::target {
namespace {

constexpr std::uint8_t kTransportTcp = 3;
constexpr std::uint8_t kSubtypeNvm = 2;
constexpr std::uint8_t kSubtypeThisDiscovery = 3;
// TREQ, and SECTYPE of TCP's TSAS.
constexpr std::uint8_t kSecureChannelRequired = 1;
constexpr std::uint8_t kSecureChannelNotRequired = 2;
constexpr std::uint8_t kNoSecurity = 0;
constexpr std::uint8_t kTls13 = 2;
constexpr std::uint16_t kAdminQueueEntries = 32;

void put_entry(DataPage page, const Subsystem& subsystem, const PortAddress& port) {
  const bool nvm = subsystem.kind() == SubsystemKind::kNvm;
  page.put<std::uint8_t>(0, kTransportTcp);
  page.put(1, port.family);
  page.put<std::uint8_t>(2, nvm ? kSubtypeNvm : kSubtypeThisDiscovery);
  const bool required = port.tls == tls::TlsMode::kRequired;
  page.put<std::uint8_t>(3, required ? kSecureChannelRequired : kSecureChannelNotRequired);
  page.put(4, port.id);
  page.put<std::uint16_t>(6, 0xFFFF);  // controllers are made on demand
  page.put(8, kAdminQueueEntries);
  page.put_text(32, 32, fmt::format("{}", port.port));
  page.put_text(256, kNqnBytes, subsystem.nqn(), '\0');
  page.put_text(512, 256, port.host);
  page.put<std::uint8_t>(768, port.tls == tls::TlsMode::kOff ? kNoSecurity : kTls13);
}

}  // namespace

std::vector<std::byte> make_discovery_log(const Subsystems& subsystems,
                                          const std::vector<PortAddress>& ports,
                                          std::uint64_t generation, const std::string& host_nqn) {
  const auto is_shown = [&](const auto& subsystem) { return subsystem->hosts.admits(host_nqn); };
  const auto shown = static_cast<std::uint64_t>(std::ranges::count_if(subsystems, is_shown));
  const std::uint64_t count = shown * ports.size();
  std::vector<std::byte> log((count + 1) * kDiscoveryEntryBytes);
  DataPage header(std::span(log).first(kDiscoveryEntryBytes));
  header.put(0, generation);
  header.put(8, count);
  std::size_t offset = kDiscoveryEntryBytes;
  for (const auto& subsystem : subsystems) {
    if (!is_shown(subsystem)) continue;
    for (const PortAddress& port : ports) {
      put_entry(DataPage(std::span(log).subspan(offset, kDiscoveryEntryBytes)), *subsystem, port);
      offset += kDiscoveryEntryBytes;
    }
  }
  return log;
}

}  // namespace forebay::nvme::target
