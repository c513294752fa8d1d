// The file that a command writes: under another name until all of it is there.
//
// OUTPUT.part is written, and OUTPUT becomes that file in one step at the end, so nobody finds half
// of one and what was there before is lost only for what replaces it. A part that is not kept is
// removed, by SIGINT, SIGTERM and SIGHUP too; what SIGKILL leaves, the next run takes over. What is
// no regular file (a pipe, a device) is written as it is, and never removed. A link stays a link.
//
// Threads: one at a time, and one part a process at a time. Blocking. Errors: the system's, with
// errno; kExists when another process, or a store that is open, has OUTPUT.part.
#pragma once

#include <string>

#include "core/error.h"

namespace forebay::cli {

class PartFile {
 public:
  [[nodiscard]] static Result<PartFile> open(const std::string& path);
  PartFile(PartFile&& other) noexcept;
  PartFile& operator=(PartFile&&) = delete;
  ~PartFile();

  // What is to be opened and written.
  [[nodiscard]] const std::string& written_path() const {
    return part_path_.empty() ? path_ : part_path_;
  }
  // Durable, and under its name. Whoever writes has closed or flushed it.
  [[nodiscard]] Status keep();

 private:
  PartFile(std::string path, std::string part_path, int lock);

  std::string path_;
  std::string part_path_;  // empty: written in place, or kept
  int lock_;               // descriptor of the part, with its lock; -1: none
};

// For an end without destructors. Safe in a signal handler.
void remove_unfinished_part();

}  // namespace forebay::cli
