#include "io/file_lock.h"

#include <fmt/core.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <cerrno>
#include <charconv>
#include <chrono>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <thread>

namespace forebay::io {
namespace {

constexpr int kTriesMax = 100;
constexpr std::chrono::milliseconds kBetweenTries{10};

}  // namespace

Status lock_file(int descriptor, int operation, const std::function<bool()>& wait) {
  while (flock(descriptor, operation | LOCK_NB) != 0) {
    const int error = errno;
    if (error == EINTR) continue;
    if (error != EWOULDBLOCK) return std::unexpected(error_from_errno(error, "lock"));
    if (!wait()) return fail(Errc::kExists, "lock: another process has it open", error);
  }
  return {};
}

std::function<bool()> wait_a_second() {
  return [tries = 0]() mutable {
    if (++tries > kTriesMax) return false;
    std::this_thread::sleep_for(kBetweenTries);
    return true;
  };
}

// "1: FLOCK  ADVISORY  WRITE 4711 fe:01:1234 0 EOF"; "1: -> FLOCK ..." waits and holds nothing.
std::optional<pid_t> lock_holder_in(std::string_view locks, unsigned major, unsigned minor,
                                    unsigned long inode) {
  const std::string file = fmt::format("{:02x}:{:02x}:{}", major, minor, inode);
  std::istringstream lines{std::string(locks)};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string number, kind, advisory, access, holder, place;
    if (!(words >> number >> kind >> advisory >> access >> holder >> place)) continue;
    if (kind != "FLOCK" || place != file) continue;
    pid_t pid = 0;
    const auto [end, failed] = std::from_chars(holder.data(), holder.data() + holder.size(), pid);
    // A holder outside this PID namespace is told as 0.
    if (failed == std::errc{} && end == holder.data() + holder.size() && pid > 0) return pid;
  }
  return std::nullopt;
}

std::optional<pid_t> lock_holder(int descriptor) {
  struct stat status{};
  if (fstat(descriptor, &status) != 0) return std::nullopt;
  std::ifstream file("/proc/locks");
  const std::string locks{std::istreambuf_iterator<char>(file), {}};
  return lock_holder_in(locks, major(status.st_dev), minor(status.st_dev), status.st_ino);
}

}  // namespace forebay::io
