#include "io/engine.h"

#include "core/log.h"
#include "io/posix.h"
#include "io/uring.h"

namespace forebay::io {

Result<std::unique_ptr<Engine>> make_engine(EngineChoice choice, std::size_t ops_max) {
  if (choice != EngineChoice::kPosix) {
    std::string why;
    auto uring = make_uring_engine(ops_max, &why);
    if (uring || choice == EngineChoice::kUring) return uring;
    static LogOnce once;
    if (once.first()) log_warn("io_uring: {}; using threads instead, at more CPU", why);
  }
  return make_posix_engine({.ops_max = ops_max});
}

}  // namespace forebay::io
