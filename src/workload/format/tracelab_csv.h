// TraceLab replay CSV: see docs/formats/foreign-traces.md.
#pragma once

#include "workload/formats.h"

namespace forebay::workload {

extern const TraceFormat kTraceLabCsvFormat;

}  // namespace forebay::workload
