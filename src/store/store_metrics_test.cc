#include "store/store_metrics.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>

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
  const std::string page = page_of({});
  std::set<std::string> rows;
  const std::regex family("# HELP (\\S+) (.*)\n# TYPE \\S+ (\\S+)\n");
  for (std::sregex_iterator at(page.begin(), page.end(), family), end; at != end; ++at) {
    rows.insert("| `" + (*at)[1].str() + "` | " + (*at)[3].str() + " | " + (*at)[2].str() + " |");
  }
  std::ifstream file(FOREBAY_SOURCE_DIR "/docs/metrics.md");
  std::set<std::string> documented;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("| `") && !line.starts_with("| `forebay_run_")) documented.insert(line);
  }
  EXPECT_EQ(rows, documented);
}

}  // namespace
}  // namespace forebay::store
