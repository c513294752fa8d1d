#include "store/store_metrics.h"

#include <array>

namespace forebay::store {
namespace {

using telemetry::MetricType;
constexpr MetricType kCounter = MetricType::kCounter;
constexpr MetricType kGauge = MetricType::kGauge;

using TierStats = StoreStats::TierStats;
constexpr std::array kTiers{Tier::kDram, Tier::kFlash};

// What a family is about: the store as it lies there, or what this process did with it.
enum class About : std::uint8_t { kStore, kProcess };
constexpr About kStore = About::kStore;
constexpr About kProcess = About::kProcess;

template <class Stats>
struct Metric {
  About about;
  const char* name;
  MetricType type;
  const char* help;
  double (*value)(const Stats&);
};

double number(std::uint64_t value) { return static_cast<double>(value); }

// One sample a tier.
constexpr std::array<Metric<TierStats>, 8> kTierMetrics{{
    {kStore, "forebay_store_blocks", kGauge, "blocks that are present",
     [](const TierStats& tier) { return number(tier.block_count); }},
    {kStore, "forebay_store_used_bytes", kGauge, "bytes held, padding included",
     [](const TierStats& tier) { return number(tier.used_bytes); }},
    {kStore, "forebay_store_capacity_bytes", kGauge, "bytes that may be held",
     [](const TierStats& tier) { return number(tier.capacity_bytes); }},
    {kProcess, "forebay_store_read_bytes_per_second", kGauge, "rate as the cost model measured it",
     [](const TierStats& tier) { return tier.read_bytes_per_second; }},
    {kProcess, "forebay_store_hit_blocks_total", kCounter, "blocks delivered from the tier",
     [](const TierStats& tier) { return number(tier.hit_blocks); }},
    {kProcess, "forebay_store_hit_bytes_total", kCounter, "bytes delivered from the tier",
     [](const TierStats& tier) { return number(tier.hit_bytes); }},
    {kProcess, "forebay_store_inserted_blocks_total", kCounter, "blocks that came to the tier",
     [](const TierStats& tier) { return number(tier.inserted_blocks); }},
    {kProcess, "forebay_store_evicted_blocks_total", kCounter, "blocks that had to leave the tier",
     [](const TierStats& tier) { return number(tier.evicted_blocks); }},
}};

constexpr std::array<Metric<StoreStats>, 25> kMetrics{{
    {kProcess, "forebay_store_lookups_total", kCounter, "chains looked up",
     [](const StoreStats& stats) { return number(stats.lookups); }},
    {kProcess, "forebay_store_lookup_blocks_total", kCounter, "blocks of the chains looked up",
     [](const StoreStats& stats) { return number(stats.lookup_blocks); }},
    {kProcess, "forebay_store_lookup_present_blocks_total", kCounter,
     "of these, blocks of a leading run",
     [](const StoreStats& stats) { return number(stats.lookup_present_blocks); }},
    {kProcess, "forebay_store_put_blocks_total", kCounter, "blocks offered by put",
     [](const StoreStats& stats) { return number(stats.put_blocks); }},
    {kProcess, "forebay_store_put_refused_blocks_total", kCounter, "of these, blocks not taken",
     [](const StoreStats& stats) { return number(stats.put_refused_blocks); }},
    {kProcess, "forebay_store_admission_refused_blocks_total", kCounter,
     "blocks not admitted to flash",
     [](const StoreStats& stats) { return number(stats.admission_refused_blocks); }},
    {kProcess, "forebay_store_quarantined_blocks_total", kCounter, "blocks removed as unproven",
     [](const StoreStats& stats) { return number(stats.quarantined_blocks); }},
    {kProcess, "forebay_store_prefetch_hit_blocks_total", kCounter,
     "loaded ahead of need and taken",
     [](const StoreStats& stats) { return number(stats.prefetch_hit_blocks); }},
    {kProcess, "forebay_store_prefetch_late_blocks_total", kCounter,
     "asked for while still on their way",
     [](const StoreStats& stats) { return number(stats.prefetch_late_blocks); }},
    {kProcess, "forebay_store_prefetch_wasted_blocks_total", kCounter,
     "loaded ahead and never taken",
     [](const StoreStats& stats) { return number(stats.prefetch_wasted_blocks); }},
    {kProcess, "forebay_store_promoted_blocks_total", kCounter, "copied from flash to DRAM",
     [](const StoreStats& stats) { return number(stats.promoted_blocks); }},
    {kProcess, "forebay_store_learning_writes_total", kCounter,
     "times that the policies' learning was saved",
     [](const StoreStats& stats) { return number(stats.learning_writes); }},
    {kProcess, "forebay_store_learning_too_large_total", kCounter,
     "times that not all of it had room",
     [](const StoreStats& stats) { return number(stats.learning_too_large); }},
    {kProcess, "forebay_store_learning_restored_models", kGauge,
     "policies that started with what was saved",
     [](const StoreStats& stats) { return number(stats.learning_restored_models); }},
    {kStore, "forebay_store_index_bytes", kGauge, "memory of index and policies",
     [](const StoreStats& stats) { return number(stats.index_bytes); }},
    {kStore, "forebay_flash_segments", kGauge, "segments of the device",
     [](const StoreStats& stats) { return number(stats.flash.segment_count); }},
    {kStore, "forebay_flash_free_segments", kGauge, "of these, free ones",
     [](const StoreStats& stats) { return number(stats.flash.free_segment_count); }},
    {kProcess, "forebay_flash_host_written_bytes_total", kCounter, "data that was to be written",
     [](const StoreStats& stats) { return number(stats.flash.host_written_bytes); }},
    {kProcess, "forebay_flash_device_written_bytes_total", kCounter, "all that went to the device",
     [](const StoreStats& stats) { return number(stats.flash.device_written_bytes); }},
    {kStore, "forebay_flash_host_written_bytes_ever_total", kCounter,
     "data that was to be written, over all lives of the store",
     [](const StoreStats& stats) { return number(stats.flash.host_written_bytes_ever); }},
    {kStore, "forebay_flash_device_written_bytes_ever_total", kCounter,
     "all that went to the device, over all lives of the store",
     [](const StoreStats& stats) { return number(stats.flash.device_written_bytes_ever); }},
    {kProcess, "forebay_flash_moved_bytes_total", kCounter, "data that reclaim moved",
     [](const StoreStats& stats) { return number(stats.flash.moved_bytes); }},
    {kProcess, "forebay_flash_reclaimed_segments_total", kCounter, "segments emptied for reuse",
     [](const StoreStats& stats) { return number(stats.flash.reclaimed_segments); }},
    {kProcess, "forebay_flash_corrupt_records_total", kCounter,
     "records that did not prove themselves",
     [](const StoreStats& stats) { return number(stats.flash.corrupt_records); }},
    {kProcess, "forebay_flash_drive_writes_per_day", kGauge, "wear, in device sizes a day",
     [](const StoreStats& stats) { return stats.flash.drive_writes_per_day; }},
}};

constexpr std::array kModes{FlashMode::kReadWrite, FlashMode::kReadOnly, FlashMode::kGone};

const TierStats& tier_of(const StoreStats& stats, Tier tier) {
  return stats.tiers[static_cast<std::size_t>(tier)];
}

void add_mode(const StoreStats& stats, telemetry::MetricsPage& page) {
  page.family("forebay_flash_mode", kGauge, "1 for the mode that the flash tier is in");
  for (const FlashMode mode : kModes) {
    page.sample(std::uint64_t{stats.flash.mode == mode}, {{"mode", to_string(mode)}});
  }
}

}  // namespace

void add_store_metrics(const StoreStats& stats, telemetry::MetricsPage& page) {
  for (const auto& metric : kTierMetrics) {
    if (metric.about != kStore) continue;
    page.family(metric.name, metric.type, metric.help);
    page.sample(metric.value(tier_of(stats, Tier::kFlash)), {{"tier", to_string(Tier::kFlash)}});
  }
  for (const auto& metric : kMetrics) {
    if (metric.about != kStore) continue;
    page.family(metric.name, metric.type, metric.help);
    page.sample(metric.value(stats));
  }
  add_mode(stats, page);
}

void add_metrics(const StoreStats& stats, telemetry::MetricsPage& page) {
  for (const auto& metric : kTierMetrics) {
    page.family(metric.name, metric.type, metric.help);
    for (const Tier tier : kTiers) {
      page.sample(metric.value(tier_of(stats, tier)), {{"tier", to_string(tier)}});
    }
  }
  for (const auto& metric : kMetrics) {
    page.family(metric.name, metric.type, metric.help);
    page.sample(metric.value(stats));
  }
  page.family("forebay_store_miss_blocks_total", kCounter, "blocks not delivered, by reason");
  for (std::size_t at = 1; at < kMissReasonCount; ++at) {
    page.sample(stats.misses[at], {{"reason", to_string(static_cast<MissReason>(at))}});
  }
  add_mode(stats, page);
  page.family("forebay_store_read_latency_seconds", MetricType::kHistogram,
              "time of one read of a tier");
  for (const Tier tier : kTiers) {
    page.histogram(tier_of(stats, tier).read_latency_ns, 1e9, {{"tier", to_string(tier)}});
  }
}

}  // namespace forebay::store
