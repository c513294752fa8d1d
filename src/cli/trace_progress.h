// A reader that shows on a terminal how far it is, once reading takes longer than a second.
#pragma once

#include <memory>

#include "cli/command.h"
#include "workload/reader.h"

namespace forebay::cli {

// Shows nothing with --quiet, with --json, or where standard error is no terminal.
[[nodiscard]] std::unique_ptr<workload::TraceReader> with_progress(
    std::unique_ptr<workload::TraceReader> reader, const Invocation& call);

}  // namespace forebay::cli
