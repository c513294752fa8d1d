#include "cli/progress_line.h"

#include <fmt/core.h>
#include <unistd.h>

#include <cstdio>
#include <utility>

namespace forebay::cli {
namespace {

constexpr Nanos kInterval = std::chrono::seconds(1);

}  // namespace

ProgressLine::ProgressLine(const Invocation& call)
    : silent_(call.quiet() || call.json() || ::isatty(STDERR_FILENO) == 0) {}

void ProgressLine::show(const std::function<std::string()>& text) {
  if (silent_ || clock_.now() - shown_at_ < kInterval) return;
  fmt::print(stderr, "\r\033[K{}", text());
  std::fflush(stderr);
  shown_at_ = clock_.now();
  shown_ = true;
}

void ProgressLine::wipe() {
  if (std::exchange(shown_, false)) fmt::print(stderr, "\r\033[K");
}

}  // namespace forebay::cli
