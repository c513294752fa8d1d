// Shares of transfer memory: who gets how much while others hold theirs.
#include "nvme/target/memory_share.h"

#include <gtest/gtest.h>

#include <deque>
#include <utility>

#include "core/bytes.h"

namespace forebay::nvme::target {
namespace {

// Somebody who asks for 1 MiB and keeps it.
struct Taker {
  BufferPool::Waiter waiter{.bytes = 1 << 20};
  BufferPool::Lease lease;
  MemoryShare* share = nullptr;

  explicit Taker(MemoryShare& of) : share(&of) {
    waiter.context = this;
    waiter.on_ready = [](BufferPool::Waiter& ready, BufferPool::Lease got) {
      static_cast<Taker*>(ready.context)->lease = std::move(got);
    };
    waiter.first = share->empty();
    share->take(waiter);
  }
  [[nodiscard]] bool served() const { return lease.held(); }
  void give_back() {
    lease.reset();
    std::exchange(share, nullptr)->give_back(waiter.bytes);
  }
  ~Taker() {
    if (share != nullptr) served() ? give_back() : share->forget(waiter);
  }
  Taker(const Taker&) = delete;
  Taker& operator=(const Taker&) = delete;
};

constexpr std::size_t kPool = 16 << 20;

struct World {
  BufferPool pool{kPool, reserve_bytes(kPool)};
  HostShares hosts{pool};
  std::shared_ptr<MemoryShare> host_a = hosts.of("a");
  std::shared_ptr<MemoryShare> host_b = hosts.of("b");
  std::deque<MemoryShare> connections;
  std::deque<Taker> takers;

  MemoryShare& connect(const std::shared_ptr<MemoryShare>& host) {
    return connections.emplace_back(pool, host.get(), connection_limits(kPool));
  }
  // Asks for so many; how many are served.
  std::size_t take(MemoryShare& share, int count) {
    std::size_t served = 0;
    for (int i = 0; i < count; ++i) served += takers.emplace_back(share).served() ? 1 : 0;
    return served;
  }
};

TEST(MemoryShare, AConnectionHasAQuarterAndAHostAHalfOfThePool) {
  World world;
  EXPECT_EQ(world.take(world.connect(world.host_a), 10), 4U);
  EXPECT_EQ(world.take(world.connect(world.host_a), 10), 4U);
  // The host's half is used up: one command each for more connections, up to three quarters.
  EXPECT_EQ(world.take(world.connect(world.host_a), 10), 1U);
  EXPECT_EQ(world.take(world.connect(world.host_a), 10), 1U);
  EXPECT_EQ(world.take(world.connect(world.host_a), 10), 1U);
  EXPECT_EQ(world.take(world.connect(world.host_a), 10), 1U);
  EXPECT_EQ(world.take(world.connect(world.host_a), 10), 0U);
  // The last quarter of the pool is for connections that have nothing.
  EXPECT_EQ(world.take(world.connect(world.host_b), 10), 1U);
  EXPECT_EQ(world.pool.taken_bytes(), 13U << 20);
}

TEST(MemoryShare, WhatComesBackGoesToWhoWaited) {
  World world;
  MemoryShare& first = world.connect(world.host_a);
  MemoryShare& second = world.connect(world.host_a);
  MemoryShare& third = world.connect(world.host_a);
  EXPECT_EQ(world.take(first, 5), 4U);
  EXPECT_EQ(world.take(second, 4), 4U);
  EXPECT_EQ(world.take(third, 2), 1U);
  world.takers[0].give_back();  // the host has eight still: its half
  EXPECT_FALSE(world.takers[4].served() || world.takers.back().served());
  world.takers[1].give_back();
  EXPECT_TRUE(world.takers.back().served());  // has waited longest for the host's share
  EXPECT_FALSE(world.takers[4].served());
  EXPECT_EQ(world.pool.taken_bytes(), 8U << 20);
}

TEST(MemoryShare, WhoIsForgottenHoldsNothing) {
  World world;
  {
    MemoryShare share(world.pool, world.host_a.get(), connection_limits(kPool));
    std::deque<Taker> takers;
    for (int i = 0; i < 9; ++i) takers.emplace_back(share);
    takers.clear();
    EXPECT_TRUE(share.empty());
  }
  EXPECT_TRUE(world.host_a->empty());
  EXPECT_EQ(world.pool.taken_bytes(), 0U);
}

TEST(MemoryShare, AHostIsTheSameWhileSomebodyHoldsIt) {
  World world;
  EXPECT_EQ(world.hosts.of("a"), world.host_a);
  EXPECT_NE(world.hosts.of("a"), world.host_b);
}

}  // namespace
}  // namespace forebay::nvme::target
