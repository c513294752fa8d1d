#include "io/folder_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "io/file_lock.h"

namespace forebay::io {
namespace {

int open_folder(const std::string& path) {
  return open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

}  // namespace

Result<std::optional<FolderLock>> FolderLock::take(const std::string& path) {
  const int descriptor = open_folder(path);
  if (descriptor < 0) return std::unexpected(error_from_errno(errno, "open folder"));
  FolderLock lock(descriptor);
  const Status locked = lock_file(descriptor, LOCK_EX, wait_a_second());
  if (locked) return std::optional<FolderLock>(std::move(lock));
  if (locked.error().code == Errc::kExists) return std::unexpected(locked.error());
  return std::optional<FolderLock>();
}

std::optional<pid_t> FolderLock::holder(const std::string& path) {
  const int descriptor = open_folder(path);
  if (descriptor < 0) return std::nullopt;
  const FolderLock closes(descriptor);
  return lock_holder(descriptor);
}

FolderLock::FolderLock(FolderLock&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)) {}

FolderLock::~FolderLock() {
  if (descriptor_ >= 0) close(descriptor_);
}

}  // namespace forebay::io
