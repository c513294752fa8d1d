#include "io/queue_limits.h"

#include <fmt/core.h>

#include <algorithm>
#include <fstream>

#include "core/bytes.h"

namespace forebay::io {
namespace {

constexpr std::uint64_t kPageBytes = 4 * kKiB;

std::optional<std::uint64_t> number_in(const std::string& path) {
  std::ifstream file(path);
  std::uint64_t number = 0;
  if (!(file >> number) || number == 0) return std::nullopt;
  return number;
}

}  // namespace

std::optional<std::uint32_t> queue_transfer_bytes(const std::string& sysfs, unsigned major,
                                                  unsigned minor) {
  const std::string disk = fmt::format("{}/dev/block/{}:{}", sysfs, major, minor);
  // A partition has no queue of its own; its folder lies in that of its disk.
  for (const char* queue : {"/queue", "/../queue"}) {
    for (const char* limit : {"/max_sectors_kb", "/max_hw_sectors_kb"}) {
      const auto kib = number_in(disk + queue + limit);
      if (!kib) continue;
      const std::uint64_t bytes = round_down(std::min(*kib, kGiB / kKiB) * kKiB, kPageBytes);
      return static_cast<std::uint32_t>(std::max(bytes, kPageBytes));
    }
  }
  return std::nullopt;
}

}  // namespace forebay::io
