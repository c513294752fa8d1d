#include "store/store_metrics.h"

#include <gtest/gtest.h>

#include <iterator>
#include <string>

#include "telemetry/metric_rows.h"

namespace forebay::store {
namespace {

std::string page_of(const StoreStats& stats) {
  telemetry::MetricsPage page;
  add_metrics(stats, page);
  return page.text();
}

TEST(StoreMetrics, SayWhatTheStatisticsSay) {
  StoreStats stats;
  stats.tiers[static_cast<std::size_t>(Tier::kFlash)].used_bytes = 4096;
  stats.misses[static_cast<std::size_t>(MissReason::kCorrupt)] = 3;
  stats.flash.mode = FlashMode::kReadOnly;
  stats.put_blocks = 9;
  const std::string page = page_of(stats);
  for (const char* line :
       {"\nforebay_store_used_bytes{tier=\"flash\"} 4096\n",
        "\nforebay_store_used_bytes{tier=\"dram\"} 0\n",
        "\nforebay_store_miss_blocks_total{reason=\"corrupt\"} 3\n",
        "\nforebay_flash_mode{mode=\"read_only\"} 1\n",
        "\nforebay_flash_mode{mode=\"read_write\"} 0\n", "\nforebay_store_put_blocks_total 9\n"}) {
    EXPECT_NE(page.find(line), std::string::npos) << line;
  }
}

// docs/metrics.md has one row a family, with its type and meaning; those of a run are joint's.
TEST(StoreMetrics, AreTheRowsOfTheirPage) {
  EXPECT_EQ(telemetry::metric_rows(page_of({})),
            telemetry::documented_metric_rows(FOREBAY_SOURCE_DIR "/docs/metrics.md", false));
}

}  // namespace
}  // namespace forebay::store
