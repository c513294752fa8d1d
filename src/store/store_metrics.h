// A store's statistics as metrics: names, types and meaning from one table (docs/metrics.md).
#pragma once

#include "store/store.h"
#include "telemetry/metrics_page.h"

namespace forebay::store {

void add_metrics(const StoreStats& stats, telemetry::MetricsPage& page);

}  // namespace forebay::store
