#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <vector>

#include "core/rng.h"
#include "qos/scheduler.h"
#include "qos/token_bucket.h"

namespace forebay::qos {
namespace {

constexpr std::uint64_t kKib = 1024;

TEST(TokenBucket, HoldsTheRateOverAnyWindow) {
  TokenBucket bucket(1'000'000, 10'000);
  Nanos now{0};
  std::uint64_t taken = 0;
  while (now < std::chrono::seconds(10)) {
    now = bucket.ready_at(now, 700);
    bucket.take(700, now);
    taken += 700;
  }
  // Ten seconds at the rate, plus the burst at the start and one item.
  EXPECT_LE(taken, 10'000'000U + 10'000U + 700U);
  EXPECT_GE(taken, 10'000'000U);
}

TEST(TokenBucket, AnItemAboveTheBurstRunsAndIsPaidForAfterwards) {
  TokenBucket bucket(1000, 10);
  const Nanos start = std::chrono::seconds(1);
  EXPECT_TRUE(bucket.ready(start, 5000));
  bucket.take(5000, start);
  EXPECT_FALSE(bucket.ready(start + std::chrono::seconds(4), 1));
  EXPECT_TRUE(bucket.ready(start + std::chrono::milliseconds(5001), 1));
}

TEST(TokenBucket, WithoutARateIsAlwaysReady) {
  TokenBucket bucket;
  bucket.take(1'000'000'000, Nanos(5));
  EXPECT_TRUE(bucket.ready(Nanos(5), 1));
}

// Drives a scheduler against a device that serves one item at a time at a fixed rate.
class Bench {
 public:
  explicit Bench(SchedulerOptions options) : scheduler(options) {}
  Item& add(OpClass op_class, std::uint32_t tenant, std::uint64_t bytes) {
    items_.push_back({.op_class = op_class, .tenant = tenant, .bytes = bytes});
    added_[&items_.back()] = now;
    scheduler.add(items_.back());
    return items_.back();
  }
  // Starts what may start and serves the oldest; false when nothing could start.
  bool serve_one() {
    while (Item* item = scheduler.next(now)) in_device_.push_back(item);
    if (in_device_.empty()) return false;
    Item* item = in_device_.front();
    in_device_.pop_front();
    now += Nanos(static_cast<std::int64_t>(item->bytes));  // 1 byte a nanosecond
    scheduler.finished(*item);
    served_bytes[{item->op_class, item->tenant}] += item->bytes;
    latency[item->tenant].push_back(now - added_[item]);
    last = item;
    return true;
  }
  Scheduler scheduler;
  Nanos now{0};
  std::map<std::pair<OpClass, std::uint32_t>, std::uint64_t> served_bytes;
  std::map<std::uint32_t, std::vector<Nanos>> latency;
  Item* last = nullptr;

 private:
  std::deque<Item> items_;
  std::map<Item*, Nanos> added_;
  std::deque<Item*> in_device_;
};

TEST(Scheduler, ServesClassesInOrder) {
  Bench bench({.in_flight_bytes_max = 4 * kKib});
  for (const OpClass op_class : {OpClass::kGc, OpClass::kWriteBack, OpClass::kDemand}) {
    bench.add(op_class, 0, 4 * kKib);
  }
  std::vector<OpClass> order;
  while (bench.serve_one()) order.push_back(bench.last->op_class);
  EXPECT_EQ(order, (std::vector{OpClass::kDemand, OpClass::kWriteBack, OpClass::kGc}));
}

TEST(Scheduler, ALowerClassIsNeverStarved) {
  Bench bench({.in_flight_bytes_max = 1024 * kKib});
  for (int i = 0; i < 4000; ++i) {
    bench.add(OpClass::kDemand, 0, 64 * kKib);
    bench.add(OpClass::kGc, 0, 64 * kKib);
  }
  for (int i = 0; i < 4000; ++i) ASSERT_TRUE(bench.serve_one());
  const double gc = static_cast<double>(bench.served_bytes[{OpClass::kGc, 0}]);
  const double demand = static_cast<double>(bench.served_bytes[{OpClass::kDemand, 0}]);
  // 3 % are owed to GC (SchedulerOptions::owed_share).
  EXPECT_GT(gc / demand, 0.02);
  EXPECT_LT(gc / demand, 0.06);
}

TEST(Scheduler, DemandFindsAtMostTheShareOfALowerClassInTheDevice) {
  Scheduler scheduler({.in_flight_bytes_max = 1024 * kKib});
  Item first{.bytes = 64 * kKib};
  scheduler.add(first);
  ASSERT_EQ(scheduler.next(Nanos(0)), &first);
  scheduler.finished(first);
  std::deque<Item> items(32, Item{.op_class = OpClass::kGc, .bytes = 64 * kKib});
  for (Item& item : items) scheduler.add(item);
  while (scheduler.next(Nanos(1'000'000)) != nullptr) {
  }
  EXPECT_EQ(scheduler.in_flight_bytes(OpClass::kGc), 256 * kKib);  // a quarter
  Item demand{.bytes = 512 * kKib};
  scheduler.add(demand);
  EXPECT_EQ(scheduler.next(Nanos(1'000'000)), &demand);
}

TEST(Scheduler, ALowerClassHasTheWholeDepthOnceDemandIsGone) {
  Scheduler scheduler({.in_flight_bytes_max = 1024 * kKib});
  Item demand{.bytes = 64 * kKib};
  scheduler.add(demand);
  ASSERT_EQ(scheduler.next(Nanos(0)), &demand);
  scheduler.finished(demand);
  std::deque<Item> items(32, Item{.op_class = OpClass::kGc, .bytes = 64 * kKib});
  for (Item& item : items) scheduler.add(item);
  while (scheduler.next(SchedulerOptions().at_work_for) != nullptr) {
  }
  EXPECT_EQ(scheduler.in_flight_bytes(OpClass::kGc), 1024 * kKib);
}

TEST(Scheduler, TenantsShareByWeight) {
  Bench bench({.in_flight_bytes_max = 512 * kKib});
  bench.scheduler.set_limits(1, {.weight = 1});
  bench.scheduler.set_limits(2, {.weight = 3});
  for (int i = 0; i < 3000; ++i) {
    bench.add(OpClass::kDemand, 1, 256 * kKib);
    bench.add(OpClass::kDemand, 2, 64 * kKib);  // smaller items must not gain or lose
    bench.add(OpClass::kDemand, 2, 192 * kKib);
  }
  for (int i = 0; i < 2000; ++i) ASSERT_TRUE(bench.serve_one());
  const double one = static_cast<double>(bench.served_bytes[{OpClass::kDemand, 1}]);
  const double two = static_cast<double>(bench.served_bytes[{OpClass::kDemand, 2}]);
  EXPECT_NEAR(two / one, 3, 0.15);
}

TEST(Scheduler, ATenantAtItsLimitLeavesTheRestToOthers) {
  Bench bench({.in_flight_bytes_max = 512 * kKib});
  // The device does 1e9 bytes a second; tenant 1 may use a tenth.
  bench.scheduler.set_limits(1, {.bytes_per_second_max = 100'000'000});
  for (int i = 0; i < 60'000; ++i) {
    bench.add(OpClass::kDemand, 1, 64 * kKib);
    bench.add(OpClass::kDemand, 2, 64 * kKib);
  }
  while (bench.now < std::chrono::seconds(3)) ASSERT_TRUE(bench.serve_one());
  const double one = static_cast<double>(bench.served_bytes[{OpClass::kDemand, 1}]);
  // Three seconds at the limit and one second's burst.
  EXPECT_NEAR(one / 1e8, 4, 0.1);
}

TEST(Scheduler, TellsWhenALimitEnds) {
  Scheduler scheduler({.in_flight_bytes_max = 1024 * kKib});
  scheduler.set_limits(0, {.operations_per_second_max = 1});
  std::deque<Item> items(3, Item{.bytes = 4 * kKib});
  for (Item& item : items) scheduler.add(item);
  const Nanos now = std::chrono::seconds(1);
  ASSERT_NE(scheduler.next(now), nullptr);
  EXPECT_EQ(scheduler.next(now), nullptr);
  const auto retry = scheduler.retry_at(now);
  ASSERT_TRUE(retry);
  EXPECT_NE(scheduler.next(*retry), nullptr);
}

// A victim asks for one block now and then while a greedy tenant keeps the queue full.
TEST(Scheduler, AVictimsLatencyStaysNearWhatItIsAlone) {
  const auto p99_of_victim = [](bool greedy) {
    Bench bench({.in_flight_bytes_max = 64 * kKib});
    for (int i = 0; greedy && i < 50'000; ++i) bench.add(OpClass::kDemand, 2, 64 * kKib);
    Rng rng(5);
    constexpr int kVictimChain = 32;  // one request of the victim: 32 blocks of 64 KiB
    for (int request = 0; request < 300; ++request) {
      for (int i = 0; i < kVictimChain; ++i) bench.add(OpClass::kDemand, 1, 64 * kKib);
      const std::size_t wanted = bench.latency[1].size() + kVictimChain;
      while (bench.latency[1].size() < wanted) EXPECT_TRUE(bench.serve_one());
      bench.now += Nanos(static_cast<std::int64_t>(rng.exponential() * 1e6));
    }
    std::vector<Nanos>& all = bench.latency[1];
    std::ranges::sort(all);
    return static_cast<double>(all[all.size() * 99 / 100].count());
  };
  // Two equal tenants: the victim gets half the device, never less.
  EXPECT_LE(p99_of_victim(true) / p99_of_victim(false), 2.2);
}

RC_GTEST_PROP(Scheduler, LosesNothingAndIsWorkConserving, (std::uint64_t seed)) {
  Rng rng(seed);
  Bench bench({.in_flight_bytes_max = 256 * kKib});
  std::size_t added = 0;
  std::size_t served = 0;
  for (int step = 0; step < 400; ++step) {
    if (rng.chance(0.6)) {
      bench.add(kOpClasses[rng.below(kOpClassCount)], static_cast<std::uint32_t>(rng.below(4)),
                (1 + rng.below(200)) * kKib);
      ++added;
    } else if (bench.serve_one()) {
      ++served;
    } else {
      RC_ASSERT(served == added);  // without limits, idle means that nothing waits
    }
  }
  while (bench.serve_one()) ++served;
  RC_ASSERT(served == added);
  RC_ASSERT(bench.scheduler.waiting() == 0U);
  RC_ASSERT(bench.scheduler.in_flight_bytes() == 0U);
}

}  // namespace
}  // namespace forebay::qos
