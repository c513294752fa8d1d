// Weka / kv-cache-tester agentic sessions: see docs/formats/foreign-traces.md.
#pragma once

#include "workload/formats.h"

namespace forebay::workload {

extern const TraceFormat kWekaFormat;

}  // namespace forebay::workload
