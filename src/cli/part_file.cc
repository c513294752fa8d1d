#include "cli/part_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <utility>

#include "io/file_lock.h"

namespace forebay::cli {
namespace {

constexpr std::array<int, 3> kEndings{SIGINT, SIGTERM, SIGHUP};

// What a signal must remove; memory that it may read at any time.
std::array<char, PATH_MAX> unfinished;
std::atomic<bool> is_unfinished{false};
static_assert(std::atomic<bool>::is_always_lock_free);

void remove_and_end(int number) {
  remove_unfinished_part();
  std::signal(number, SIG_DFL);
  std::raise(number);
}

void remove_on_signals(const std::string& part_path) {
  if (part_path.size() >= unfinished.size()) return;
  part_path.copy(unfinished.data(), part_path.size());
  unfinished[part_path.size()] = '\0';
  is_unfinished.store(true);
  for (const int number : kEndings) {
    // Ignored signals stay so: nohup.
    if (std::signal(number, remove_and_end) == SIG_IGN) std::signal(number, SIG_IGN);
  }
}

// What a killed run left has one name and is a plain file; through a link somebody else's is
// reached.
bool is_plain(int descriptor) {
  struct stat facts{};
  return ::fstat(descriptor, &facts) == 0 && S_ISREG(facts.st_mode) && facts.st_nlink == 1;
}

// Not truncated before it is locked: it may be a store that is open, or another run's.
Result<int> create_locked(const std::string& part_path) {
  const int descriptor =
      ::open(part_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
  if (descriptor < 0 && errno != ELOOP) return std::unexpected(error_from_errno(errno, "create"));
  if (descriptor < 0 || !is_plain(descriptor)) {
    if (descriptor >= 0) ::close(descriptor);
    return fail(Errc::kExists, "create: its .part file is a link or no plain file; move it away");
  }
  const Status locked = io::lock_file(descriptor, LOCK_EX, [] { return false; });
  // A file system without locks is no reason to write nothing.
  if (!locked && locked.error().code == Errc::kExists) {
    ::close(descriptor);
    return fail(Errc::kExists, "create: its .part file is in use, another run is writing it");
  }
  if (::ftruncate(descriptor, 0) == 0) return descriptor;
  const int error_number = errno;
  ::close(descriptor);
  return std::unexpected(error_from_errno(error_number, "create"));
}

}  // namespace

void remove_unfinished_part() {
  if (is_unfinished.load()) ::unlink(unfinished.data());
}

Result<PartFile> PartFile::open(const std::string& path) {
  std::error_code failed;
  const auto there = std::filesystem::status(path, failed);
  if (!std::filesystem::exists(there)) {
    // A link to nothing: the file it names is made in place.
    if (std::filesystem::is_symlink(path, failed)) return PartFile(path, "", -1);
  } else if (!std::filesystem::is_regular_file(there)) {
    return PartFile(path, "", -1);
  } else if (::access(path.c_str(), W_OK) != 0) {
    return std::unexpected(error_from_errno(errno, "create"));
  }
  const std::string target =
      std::filesystem::exists(there) ? std::filesystem::canonical(path, failed).string() : path;
  std::string part_path = target + ".part";
  FOREBAY_TRY(lock, create_locked(part_path));
  if (std::filesystem::exists(there)) {
    std::filesystem::permissions(part_path, there.permissions(), failed);
  }
  remove_on_signals(part_path);
  return PartFile(target, std::move(part_path), lock);
}

PartFile::PartFile(std::string path, std::string part_path, int lock)
    : path_(std::move(path)), part_path_(std::move(part_path)), lock_(lock) {}

PartFile::PartFile(PartFile&& other) noexcept
    : path_(other.path_),
      part_path_(std::exchange(other.part_path_, {})),
      lock_(std::exchange(other.lock_, -1)) {}

PartFile::~PartFile() {
  if (!part_path_.empty()) {
    (void)std::remove(part_path_.c_str());
    is_unfinished.store(false);
  }
  if (lock_ >= 0) ::close(lock_);
}

Status PartFile::keep() {
  if (part_path_.empty()) return {};
  if (::fsync(lock_) != 0 || std::rename(part_path_.c_str(), path_.c_str()) != 0) {
    return std::unexpected(error_from_errno(errno, "write"));
  }
  is_unfinished.store(false);
  part_path_.clear();
  return {};
}

}  // namespace forebay::cli
