// The lock that keeps two processes from writing one file, and who holds it.
//
// A process that has just ended may still hold its locks: the kernel closes the files of its rings
// a moment after the process is gone. A refused lock is therefore tried again for a while.
//
// Threads: any. Blocking: lock_file() between two tries; both calls read /proc or the file.
#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string_view>

#include "core/error.h"

namespace forebay::io {

// Takes `operation` (LOCK_EX or LOCK_SH) on the open file. When another holds it, `wait` is called
// between tries, and says false when there shall be none more. kExists: still held. kIo: no locks
// here.
[[nodiscard]] Status lock_file(int descriptor, int operation, const std::function<bool()>& wait);

// Waits 10 ms a call, and a second in all.
[[nodiscard]] std::function<bool()> wait_a_second();

// The process that holds a lock on the open file, where the kernel tells: not in another PID
// namespace, and not of a process that is gone.
[[nodiscard]] std::optional<pid_t> lock_holder(int descriptor);

// The same from the text of /proc/locks, for the file `inode` of the device major:minor.
[[nodiscard]] std::optional<pid_t> lock_holder_in(std::string_view locks, unsigned major,
                                                  unsigned minor, unsigned long inode);

}  // namespace forebay::io
