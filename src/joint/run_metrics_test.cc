#include "joint/run_metrics.h"

#include <gtest/gtest.h>

#include <string>

#include "telemetry/metric_rows.h"

namespace forebay::joint {
namespace {

RunOutcome outcome_of_two_arms() {
  RunOutcome outcome;
  outcome.summary.rounds_complete = 3;
  report::ArmSummary& ran = outcome.summary.arms.emplace_back();
  ran.name = "forebay";
  ran.request_count = 12;
  ran.ttft_ns.mean = 1.5e9;
  ran.blocks.flash = 9;
  ran.save_dropped_blocks = 2;
  ran.save_refused_blocks = 3;
  outcome.summary.arms.emplace_back().name = "never";
  return outcome;
}

TEST(RunMetrics, SayWhatTheSummarySays) {
  const std::string page = run_metrics(outcome_of_two_arms());
  for (const char* line : {"\nforebay_run_valid 1\n", "\nforebay_run_complete_rounds 3\n",
                           "\nforebay_run_requests{arm=\"forebay\"} 12\n",
                           "\nforebay_run_ttft_seconds{arm=\"forebay\",statistic=\"mean\"} 1.5\n",
                           "\nforebay_run_blocks{arm=\"forebay\",source=\"flash\"} 9\n",
                           "\nforebay_run_unsaved_blocks{arm=\"forebay\"} 5\n"}) {
    EXPECT_NE(page.find(line), std::string::npos) << line << page;
  }
  // No percentile below its floor, no zeros of an arm that never ran, no store that was not opened.
  EXPECT_EQ(page.find("p99"), std::string::npos);
  EXPECT_EQ(page.find("never"), std::string::npos);
  EXPECT_EQ(page.find("forebay_store_"), std::string::npos);
}

TEST(RunMetrics, TheCandidatesStoreHasTheNamesOfAnyStore) {
  RunOutcome outcome = outcome_of_two_arms();
  outcome.candidate_store.emplace().put_blocks = 9;
  EXPECT_NE(run_metrics(outcome).find("\nforebay_store_put_blocks_total 9\n"), std::string::npos);
}

// docs/metrics.md has one row a family, with its type and meaning.
TEST(RunMetrics, AreTheRowsOfTheirPage) {
  EXPECT_EQ(telemetry::metric_rows(run_metrics(outcome_of_two_arms())),
            telemetry::documented_metric_rows(FOREBAY_SOURCE_DIR "/docs/metrics.md", true));
}

}  // namespace
}  // namespace forebay::joint
