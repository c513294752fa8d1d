// Failures that come from a limit of the process (ulimit), told with the limit and what raises it.
#pragma once

#include <string>
#include <string_view>

#include "core/error.h"

namespace forebay::cli {

// "  hint: ...\n" for an error that means memory, open files or the size of a file; "" for others.
[[nodiscard]] std::string limit_hint(const Error& error);

// Tells "what: error", and that hint where there is one.
void tell_failure(std::string_view what, const Error& error);

// From here on memory that cannot be had ends the program with one line, that hint and exit 1, out
// of a coroutine too (a store takes that as any kill); a file larger than allowed is an error and
// no signal.
void explain_process_limits();

}  // namespace forebay::cli
