// Qwen-Bailian JSONL: see docs/formats/foreign-traces.md.
#pragma once

#include "workload/formats.h"

namespace forebay::workload {

extern const TraceFormat kBailianFormat;

}  // namespace forebay::workload
