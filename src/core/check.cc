#include "core/check.h"

#include <cstdio>
#include <cstdlib>

namespace forebay::detail {

void check_failed(const char* file, int line, const char* expression, const std::string& values) {
  std::fprintf(stderr, "forebay: check failed at %s:%d: %s%s%s\n", file, line, expression,
               values.empty() ? "" : ": ", values.c_str());
  std::fflush(stderr);
  std::abort();
}

}  // namespace forebay::detail
