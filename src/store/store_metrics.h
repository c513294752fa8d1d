// A store's statistics as metrics: names, types and meaning from one table (docs/metrics.md).
#pragma once

#include "store/store.h"
#include "telemetry/metrics_page.h"

namespace forebay::store {

// Of a store that serves: all of it, what this process did since it opened the store too.
void add_metrics(const StoreStats& stats, telemetry::MetricsPage& page);

// Of a store that was only opened to be looked at: what lies on flash, and no counters of a process
// that did nothing.
void add_store_metrics(const StoreStats& stats, telemetry::MetricsPage& page);

}  // namespace forebay::store
