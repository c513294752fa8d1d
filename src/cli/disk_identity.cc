#include "cli/disk_identity.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>

namespace forebay::cli {

std::string disk_identity(const std::string& path) {
  struct statx facts{};
  if (::statx(AT_FDCWD, path.c_str(), 0, STATX_BASIC_STATS | STATX_BTIME, &facts) != 0) return "";
  if (!S_ISREG(facts.stx_mode)) return "";
  return fmt::format("{}:{} {} {}.{}", facts.stx_dev_major, facts.stx_dev_minor, facts.stx_ino,
                     facts.stx_btime.tv_sec, facts.stx_btime.tv_nsec);
}

}  // namespace forebay::cli
