// A folder that one process uses alone: held while the lock lives, let go when its process ends,
// however it ends. No file is left behind.
//
// Threads: any. Blocks: take(), a second at most, for one that has just ended. Limits: a file
// system without locks for folders (NFS) holds nobody off.
#pragma once

#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>

#include "core/error.h"

namespace forebay::io {

class FolderLock {
 public:
  // kExists: another holds it. kNotFound, kDenied, kIo: the folder. Nothing: it has no locks.
  [[nodiscard]] static Result<std::optional<FolderLock>> take(const std::string& path);
  // The process that holds it, where the kernel tells.
  [[nodiscard]] static std::optional<pid_t> holder(const std::string& path);

  FolderLock(FolderLock&& other) noexcept;
  FolderLock& operator=(FolderLock&&) = delete;
  ~FolderLock();

 private:
  explicit FolderLock(int descriptor) : descriptor_(descriptor) {}
  int descriptor_;
};

}  // namespace forebay::io
