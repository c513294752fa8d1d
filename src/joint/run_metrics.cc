#include "joint/run_metrics.h"

#include <array>

#include "store/store_metrics.h"
#include "telemetry/metrics_page.h"

namespace forebay::joint {
namespace {

using report::ArmSummary;
using telemetry::MetricsPage;
using telemetry::MetricType;

// One sample an arm that ran.
struct ArmMetric {
  const char* name;
  const char* help;
  double (*value)(const ArmSummary&);
};

double number(std::uint64_t value) { return static_cast<double>(value); }

constexpr std::array<ArmMetric, 5> kArmMetrics{{
    {"forebay_run_requests", "requests that count",
     [](const ArmSummary& arm) { return number(arm.request_count); }},
    {"forebay_run_output_tokens_per_second", "of requests that are done",
     [](const ArmSummary& arm) { return arm.output_tokens_per_second; }},
    {"forebay_run_wrong_blocks", "loaded blocks with wrong bytes: must be 0",
     [](const ArmSummary& arm) { return number(arm.wrong_blocks); }},
    {"forebay_run_unsaved_blocks", "computed blocks that were dropped or refused",
     [](const ArmSummary& arm) {
       return number(arm.save_dropped_blocks + arm.save_refused_blocks);
     }},
    {"forebay_run_device_read_bytes", "read through the storage device, a round",
     [](const ArmSummary& arm) { return number(arm.device_read_bytes); }},
}};

void add_ttft(const report::Summary& summary, MetricsPage& page) {
  page.family("forebay_run_ttft_seconds", MetricType::kGauge,
              "time to first token; a percentile below its sample floor is absent");
  for (const ArmSummary& arm : summary.arms) {
    const auto add = [&](const char* statistic, const std::optional<double>& ns) {
      if (ns) page.sample(*ns / 1e9, {{"arm", arm.name}, {"statistic", statistic}});
    };
    add("mean", arm.ttft_ns.mean);
    add("p50", arm.ttft_ns.p50);
    add("p90", arm.ttft_ns.p90);
    add("p99", arm.ttft_ns.p99);
  }
}

void add_blocks(const report::Summary& summary, MetricsPage& page) {
  page.family("forebay_run_blocks", MetricType::kGauge, "KV blocks of the prompts, by source");
  for (const ArmSummary& arm : summary.arms) {
    if (!arm.ran()) continue;
    page.sample(arm.blocks.hbm, {{"arm", arm.name}, {"source", "hbm"}});
    page.sample(arm.blocks.dram, {{"arm", arm.name}, {"source", "dram"}});
    page.sample(arm.blocks.flash, {{"arm", arm.name}, {"source", "flash"}});
    page.sample(arm.blocks.recomputed, {{"arm", arm.name}, {"source", "recomputed"}});
  }
}

}  // namespace

std::string run_metrics(const RunOutcome& outcome) {
  MetricsPage page;
  page.family("forebay_run_valid", MetricType::kGauge, "1: the figures may be used");
  page.sample(std::uint64_t{outcome.summary.valid});
  page.family("forebay_run_complete_rounds", MetricType::kGauge, "of every arm that ran");
  page.sample(outcome.summary.rounds_complete);
  add_ttft(outcome.summary, page);
  add_blocks(outcome.summary, page);
  for (const ArmMetric& metric : kArmMetrics) {
    page.family(metric.name, MetricType::kGauge, metric.help);
    for (const ArmSummary& arm : outcome.summary.arms) {
      if (arm.ran()) page.sample(metric.value(arm), {{"arm", arm.name}});
    }
  }
  if (outcome.candidate_store) store::add_metrics(*outcome.candidate_store, page);
  return page.text();
}

}  // namespace forebay::joint
