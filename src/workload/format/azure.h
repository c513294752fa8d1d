// Azure LLM inference CSV: see docs/formats/foreign-traces.md.
#pragma once

#include "workload/formats.h"

namespace forebay::workload {

extern const TraceFormat kAzureFormat;

}  // namespace forebay::workload
