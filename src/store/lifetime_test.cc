// A store that is destroyed without close(): whatever it was doing, device and loop may go after
// it, in any order, turned again or not.
#include <gtest/gtest.h>

#include <chrono>
#include <memory>

#include "core/bytes.h"
#include "core/log.h"
#include "store/disk_rig.h"

namespace forebay::store {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kDeviceBytes = 6 * kMiB;

StoreOptions small_dram() {
  StoreOptions options;
  options.dram_bytes = 32 * DiskRig::kBlockBytes;
  options.policy = "lru";
  return options;
}

std::vector<BlockId> chain_of(std::uint64_t first, std::size_t count) {
  std::vector<BlockId> chain;
  for (std::size_t i = 0; i < count; ++i) chain.push_back(test_id(first + i));
  return chain;
}

// The owner's order: nothing is turned between the store's end and the loop's.
void device_goes_before_the_loop(DiskRig& rig) {
  while (rig.engine->in_flight_count() > 0) rig.loop->turn();
  rig.store.reset();
  rig.device.reset();
  rig.loop.reset();
  rig.engine.reset();
}

TEST(Lifetime, APrefetchThatWaitsForItsTakerDoesNotNeedTheDevice) {
  DiskRig rig(small_dram(), kDeviceBytes, 1);
  ASSERT_TRUE(rig.open().has_value());
  rig.put(0, 24);
  ASSERT_TRUE(rig.flush().has_value());
  rig.put(1000, 32);
  ASSERT_TRUE(rig.flush().has_value());
  CancelSource cancel;
  rig.store->prefetch(chain_of(0, 24), {.space = rig.space, .cancel = &cancel});
  for (int i = 0; i < 50; ++i) rig.loop->run(sleep_a_little(rig.loop.get()));
  ASSERT_GT(rig.loop->spawned_count(), 0U);  // it waits with its window full
  while (rig.engine->in_flight_count() > 0) rig.loop->turn();
  rig.store.reset();
  rig.device.reset();
  for (int i = 0; i < 100; ++i) rig.loop->turn();
  EXPECT_EQ(rig.loop->spawned_count(), 0U);
  rig.loop.reset();
  rig.engine.reset();
}

TEST(Lifetime, AnIdleStoreDoesNotNeedTheDevice) {
  DiskRig rig(small_dram(), kDeviceBytes, 2);
  ASSERT_TRUE(rig.open().has_value());
  rig.put(0, 24);
  ASSERT_TRUE(rig.flush().has_value());
  device_goes_before_the_loop(rig);
}

Task<void> release_stuck_at(DiskRig* rig, Nanos at) {
  co_await rig->loop->sleep_until(at);
  rig->engine->release_stuck();
}

// A read that is stuck in the device when its get has given up; no cancelling ends it.
void leave_a_read_behind(DiskRig& rig) {
  ASSERT_TRUE(rig.open().has_value());
  rig.put(0, 24);
  rig.put(1000, 32);  // drives the first from DRAM
  ASSERT_TRUE(rig.flush().has_value());
  rig.engine->faults().add({.kind = io::FaultKind::kStuck, .op = io::OpKind::kRead});
  const auto got = rig.get(0, 1, 20ms);
  ASSERT_EQ(got.misses, std::vector{MissReason::kTimedOut});
  rig.engine->faults().clear();
  ASSERT_GT(rig.engine->in_flight_count(), 0U);
}

TEST(Lifetime, CloseWaitsForReadsThatTheirCallsLeftBehind) {
  DiskRig rig(small_dram(), kDeviceBytes, 3);
  leave_a_read_behind(rig);
  const Nanos ends = rig.loop->now() + 5s;
  rig.loop->spawn(release_stuck_at(&rig, ends));
  EXPECT_TRUE(rig.close().has_value());
  EXPECT_EQ(rig.engine->in_flight_count(), 0U);
  EXPECT_GE(rig.loop->now(), ends);
  EXPECT_LE(rig.loop->now(), ends + 10ms);
}

TEST(Lifetime, CloseOfAStuckDeviceEndsAndSaysSo) {
  DiskRig rig(small_dram(), kDeviceBytes, 4);
  leave_a_read_behind(rig);
  const Nanos began = rig.loop->now();
  const Status closed = rig.close();
  ASSERT_FALSE(closed.has_value());
  EXPECT_EQ(closed.error().code, Errc::kTimedOut);
  EXPECT_LE(rig.loop->now() - began, 61s);
}

Task<void> get_into(Store* store, std::shared_ptr<std::vector<GetItem>> items, CallOptions call) {
  (void)co_await store->get(*items, call);
}

// Work of every kind, then the end at a random moment; the device goes as soon as it is idle.
void end_at_random(std::uint64_t seed) {
  SCOPED_TRACE(seed);
  Rng rng = Rng(seed).fork("lifetime");
  StoreOptions options = small_dram();
  if (rng.chance(0.3)) options.quotas = {{.tenant = "t", .bytes_per_second_max = 4 * kMiB}};
  DiskRig rig(std::move(options), kDeviceBytes, seed);
  ASSERT_TRUE(rig.open().has_value());
  const auto buffers = std::make_shared<std::deque<TestBuffer>>();
  CancelSource cancel;
  for (std::uint64_t step = 0; step < 10 + rng.below(40); ++step) {
    const std::uint64_t first = rng.below(20) * 100;
    const std::uint64_t dice = rng.below(10);
    if (dice < 5) rig.put(first, 1 + rng.below(20));
    if (dice == 5) {
      rig.store->prefetch(chain_of(first, 20), {.space = rig.space, .cancel = &cancel});
    }
    if (dice == 6) (void)rig.remove(first);
    if (dice > 6) {
      auto items = std::make_shared<std::vector<GetItem>>(8);
      for (std::size_t i = 0; i < items->size(); ++i) {
        buffers->emplace_back(DiskRig::kBlockBytes);
        (*items)[i].id = test_id(first + i);
        (*items)[i].buffer = {.pieces = buffers->back().pieces, .owner = buffers};
      }
      rig.loop->spawn(get_into(rig.store.get(), items, {.space = rig.space}));
    }
  }
  rig.store.reset();
  const bool turns_on = rng.chance(0.5);
  // What the device has must come back; what waits before it must not go there any more.
  while (rig.engine->in_flight_count() > 0) rig.loop->turn();
  rig.device.reset();
  for (int i = 0; turns_on && i < 300; ++i) rig.loop->turn();
  if (turns_on) EXPECT_EQ(rig.loop->spawned_count(), 0U);
  rig.loop.reset();
  rig.engine.reset();
}

TEST(Lifetime, WhateverItDidTheDeviceMayGoOnceItIsIdle) {
  set_log_level(LogLevel::kOff);
  for (std::uint64_t seed = 1; seed <= 200 && !::testing::Test::HasFailure(); ++seed) {
    end_at_random(seed);
  }
  set_log_level(LogLevel::kInfo);
}

}  // namespace
}  // namespace forebay::store
