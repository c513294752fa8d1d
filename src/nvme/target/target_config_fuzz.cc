// Any bytes as a target's configuration: a configuration that can be used, or mistakes.
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>

#include "core/check.h"
#include "nvme/identity.h"
#include "nvme/target/target_config.h"

namespace target = forebay::nvme::target;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  forebay::Diagnostics mistakes;
  const auto config = target::read_target_config("target.toml", text, mistakes);
  FOREBAY_CHECK_EQ(config.has_value(), mistakes.empty());
  if (!config) return 0;
  FOREBAY_CHECK(!config->subsystems.empty() && !config->addresses.empty());
  std::set<std::string> devices;
  for (const target::SubsystemConfig& subsystem : config->subsystems) {
    FOREBAY_CHECK(forebay::nvme::is_nqn(subsystem.nqn) && !subsystem.hosts.empty());
    for (const target::NamespaceConfig& item : subsystem.namespaces) {
      FOREBAY_CHECK(item.id >= 1 && item.id <= target::kNamespacesMax);
      FOREBAY_CHECK(devices.insert(item.device).second);
    }
  }
  return 0;
}
