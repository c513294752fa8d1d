// A tenant that saturates the device does not hold another's loads (DESIGN D8), in virtual time.
#include <gtest/gtest.h>

#include "core/bytes.h"
#include "store/disk_rig.h"
#include "telemetry/histogram.h"

namespace forebay::store {
namespace {

constexpr std::uint64_t kDeviceBytes = 256 * kMiB;
constexpr std::size_t kBlock = 64 * kKiB;
constexpr std::uint64_t kBlocks = 256;

struct Caller {
  Store* store;
  io::Loop* loop;
  SpaceId space;
  std::string tenant;
};

Task<void> put_all(Caller caller) {
  for (std::uint64_t i = 0; i < kBlocks; ++i) {
    TestBuffer buffer(kBlock);
    fill_block(buffer.bytes, i);
    std::array<PutItem, 1> items;
    items[0].id = test_id(i, caller.tenant);
    items[0].data = buffer.lend();
    CallOptions call;
    call.space = caller.space;
    co_await caller.store->put(items, call);
    EXPECT_TRUE(items[0].status.has_value());
  }
}

// Loads `count` blocks a call, one call after another, until `until`.
Task<void> load(Caller caller, std::size_t count, Nanos until, Nanos think,
                telemetry::Histogram* latency_ns) {
  Rng rng(mix64(count));
  std::deque<TestBuffer> buffers;
  for (std::size_t i = 0; i < count; ++i) buffers.emplace_back(kBlock);
  while (caller.loop->now() < until) {
    std::vector<GetItem> items(count);
    for (std::size_t i = 0; i < count; ++i) {
      items[i].id = test_id(rng.below(kBlocks), caller.tenant);
      items[i].buffer = buffers[i].lend();
    }
    CallOptions call;
    call.space = caller.space;
    const Nanos start = caller.loop->now();
    const GetSummary got = co_await caller.store->get(items, call);
    EXPECT_EQ(got.leading_blocks, count);
    if (latency_ns != nullptr) {
      latency_ns->record(static_cast<std::uint64_t>((caller.loop->now() - start).count()));
    }
    co_await caller.loop->sleep_for(think);
  }
}

StoreOptions options_with(std::vector<TenantQuota> quotas) {
  StoreOptions options;
  options.policy = "lru";
  options.quotas = std::move(quotas);
  // What the device holds is what a newcomer waits for: an eighth of the victim's own load.
  options.flash_options.read_in_flight_bytes_max = 256 * kKiB;
  return options;
}

// p99 of the victim's loads of 32 blocks, beside `bullies` that load without a pause.
double victim_p99_ns(std::vector<TenantQuota> quotas, unsigned bullies) {
  DiskRig rig(options_with(std::move(quotas)), kDeviceBytes, 1);
  EXPECT_TRUE(rig.open().has_value());
  const auto caller_of = [&](const std::string& tenant) {
    const auto space =
        rig.store->register_space({.tenant = tenant, .layout_fingerprint = "layout"});
    return Caller{rig.store.get(), rig.loop.get(), *space, tenant};
  };
  const Caller victim = caller_of("victim");
  const Caller bully = caller_of("bully");
  rig.loop->run(put_all(victim));
  rig.loop->run(put_all(bully));
  EXPECT_TRUE(rig.flush().has_value());
  telemetry::Histogram latency_ns;
  const Nanos start = rig.loop->now() + Nanos(1000000000);  // when bursts are spent
  const Nanos until = start + Nanos(1'000'000'000);
  for (unsigned i = 0; i < bullies; ++i) {
    rig.loop->spawn(load(bully, 32, until, Nanos(0), nullptr));
  }
  rig.loop->run(load(victim, 32, start, Nanos(2'000'000), nullptr));
  rig.loop->run(load(victim, 32, until, Nanos(2'000'000), &latency_ns));
  while (rig.loop->spawned_count() > 0) rig.loop->turn();
  EXPECT_GT(latency_ns.count(), 200U);
  return static_cast<double>(latency_ns.quantile(0.99));
}

TEST(Tenants, AVictimWithItsShareWaitsAtMostAFifthLonger) {
  const std::vector<TenantQuota> quotas{{.tenant = "victim", .share = 16},
                                        {.tenant = "bully", .share = 1}};
  const double alone = victim_p99_ns(quotas, 0);
  EXPECT_LE(victim_p99_ns(quotas, 16), 1.2 * alone);
}

TEST(Tenants, AVictimBesideATenantWithABandwidthLimitWaitsAtMostAFifthLonger) {
  // The limit leaves the device 9/10 idle.
  const std::vector<TenantQuota> quotas{{.tenant = "bully", .bytes_per_second_max = 300'000'000}};
  const double alone = victim_p99_ns(quotas, 0);
  EXPECT_LE(victim_p99_ns(quotas, 16), 1.2 * alone);
}

}  // namespace
}  // namespace forebay::store
