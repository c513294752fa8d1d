// The io_uring engine: one ring per core, continuous completion.
//
// submit() fills a queue entry; one system call per poll() submits all of them and reaps what is
// done. Short file transfers are continued until complete or at the end of the file.
#pragma once

#include <memory>
#include <string>

#include "io/engine.h"

namespace forebay::io {

// kUnsupported, with `why` set to one line that says what refused: the kernel, a sysctl, seccomp.
[[nodiscard]] Result<std::unique_ptr<Engine>> make_uring_engine(std::size_t ops_max,
                                                                std::string* why);

}  // namespace forebay::io
