// From the engine's and the store's own records to rows of the logs. Pure.
#pragma once

#include <span>
#include <vector>

#include "engine/emulated.h"
#include "joint/traffic.h"
#include "report/rows.h"

namespace forebay::joint {

// Which cell a row belongs to.
struct CellKey {
  std::int64_t variant = 0;
  std::int64_t round = 0;
  std::int64_t arm = 0;
};

[[nodiscard]] report::RequestRow to_row(const CellKey& key, const engine::RequestRecord& record,
                                        std::int64_t warm_up_ns);
// `origin`: the cell's start on the loop's clock.
[[nodiscard]] report::OpRow to_row(const CellKey& key, const engine::KvOp& op, Nanos origin);
void append_traffic(const CellKey& key, store::Tier tier, const TrafficMeter& meter,
                    std::vector<report::TrafficRow>& rows);
void take_engine_figures(const engine::EngineResult& result, report::CellRow& row);
void take_store_figures(const store::StoreStats& stats, report::CellRow& row);

}  // namespace forebay::joint
