#include "cli/standard_error.h"

#include <cstdio>

namespace forebay::cli {

// fwrite, not fmt::print: what does not arrive is no reason to throw.
void tell_lines(std::string_view lines) {
  (void)std::fwrite(lines.data(), 1, lines.size(), stderr);
}

}  // namespace forebay::cli
