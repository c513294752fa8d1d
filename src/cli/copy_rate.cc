#include "cli/copy_rate.h"

#include <cstring>

#include "cli/bench_arena.h"
#include "core/bytes.h"
#include "core/clock.h"

namespace forebay::cli {

double copy_bytes_per_second() {
  constexpr std::size_t kCopyBytes = 64 * kMiB;
  constexpr std::size_t kCopies = 8;
  const SystemClock clock;
  const BenchArena arena(2, kCopyBytes);
  const Nanos start = clock.now();
  for (std::size_t i = 0; i < kCopies; ++i) {
    std::memcpy(arena.block(i % 2), arena.block(1 - i % 2), kCopyBytes);
  }
  return static_cast<double>(kCopies * kCopyBytes) /
         std::chrono::duration<double>(clock.now() - start).count();
}

}  // namespace forebay::cli
