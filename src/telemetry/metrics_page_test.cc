#include "telemetry/metrics_page.h"

#include <gtest/gtest.h>

namespace forebay::telemetry {
namespace {

// As in the format's own page (Prometheus, exposition formats, text format 0.0.4).
TEST(MetricsPage, FamiliesSamplesAndEscapes) {
  MetricsPage page;
  page.family("forebay_reads_total", MetricType::kCounter, "reads");
  page.sample(std::uint64_t{12345678901234567}, {{"tier", "flash"}});
  page.sample(std::uint64_t{0}, {{"tier", "a\\b\"c\nd"}, {"x", ""}});
  page.family("forebay_rate_bytes", MetricType::kGauge, "rate");
  page.sample(1.5);
  EXPECT_EQ(page.text(),
            "# HELP forebay_reads_total reads\n"
            "# TYPE forebay_reads_total counter\n"
            "forebay_reads_total{tier=\"flash\"} 12345678901234567\n"
            "forebay_reads_total{tier=\"a\\\\b\\\"c\\nd\",x=\"\"} 0\n"
            "# HELP forebay_rate_bytes rate\n"
            "# TYPE forebay_rate_bytes gauge\n"
            "forebay_rate_bytes 1.5\n");
}

TEST(MetricsPage, AHistogramsBucketsAreCumulativeInItsUnit) {
  Histogram histogram;
  histogram.record(1'500'000);     // 1.5 ms
  histogram.record(4'000'000, 2);  // 4 ms
  histogram.record(12'000'000);    // 12 ms
  MetricsPage page;
  page.family("wait_seconds", MetricType::kHistogram, "wait");
  page.histogram(histogram, 1e9);
  EXPECT_EQ(page.text(),
            "# HELP wait_seconds wait\n"
            "# TYPE wait_seconds histogram\n"
            "wait_seconds_bucket{le=\"0.001\"} 0\n"
            "wait_seconds_bucket{le=\"0.002\"} 1\n"
            "wait_seconds_bucket{le=\"0.005\"} 3\n"
            "wait_seconds_bucket{le=\"0.01\"} 3\n"
            "wait_seconds_bucket{le=\"0.02\"} 4\n"
            "wait_seconds_bucket{le=\"+Inf\"} 4\n"
            "wait_seconds_sum 0.0215\n"
            "wait_seconds_count 4\n");
}

TEST(MetricsPage, AnEmptyHistogramHasOneBucket) {
  MetricsPage page;
  page.family("wait_seconds", MetricType::kHistogram, "wait");
  page.histogram(Histogram(), 1e9, {{"tier", "dram"}});
  EXPECT_TRUE(page.text().ends_with(
      "wait_seconds_bucket{tier=\"dram\",le=\"+Inf\"} 0\n"
      "wait_seconds_sum{tier=\"dram\"} 0\nwait_seconds_count{tier=\"dram\"} 0\n"));
}

TEST(MetricsPageDeathTest, NamesAreCheckedAndGivenOnce) {
  MetricsPage page;
  EXPECT_DEATH(page.family("Bad", MetricType::kGauge, ""), "check failed");
  EXPECT_DEATH(page.family("count", MetricType::kCounter, ""), "check failed");
  page.family("used_bytes", MetricType::kGauge, "");
  EXPECT_DEATH(page.family("used_bytes", MetricType::kGauge, ""), "check failed");
}

}  // namespace
}  // namespace forebay::telemetry
