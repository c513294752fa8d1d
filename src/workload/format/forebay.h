// Our own superset: see docs/formats/trace.md.
#pragma once

#include "workload/formats.h"

namespace forebay::workload {

extern const TraceFormat kForebayFormat;

}  // namespace forebay::workload
