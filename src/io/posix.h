// The thread-pool engine: for hosts that forbid io_uring. Same promises, more CPU.
//
// File operations run on a bounded pool; socket operations wait in poll(2) on the owning core.
#pragma once

#include <memory>

#include "io/engine.h"

namespace forebay::io {

struct PosixOptions {
  std::size_t ops_max = 1024;
  std::size_t thread_count = 16;
};
[[nodiscard]] Result<std::unique_ptr<Engine>> make_posix_engine(PosixOptions options);

}  // namespace forebay::io
