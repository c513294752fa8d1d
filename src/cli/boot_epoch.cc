#include "cli/boot_epoch.h"

#include <fstream>
#include <string>

namespace forebay::cli {

nvme::CacheEpoch boot_epoch() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string boot;
  // Only what follows from it leaves the machine.
  return std::getline(file, boot) ? nvme::uuid_of("cache epoch\n" + boot) : nvme::CacheEpoch{};
}

}  // namespace forebay::cli
