// A random workload on a disk that lies, against an oracle: whatever is delivered is right and was
// put, no call outlives its deadline, no tier outgrows its limit, and in quiet times a lookup is
// kept by the get that follows. Seeded; a failure names its seed. FOREBAY_TRIALS raises
// the count, FOREBAY_SEED sets the first.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

#include "core/bytes.h"
#include "core/log.h"
#include "store/disk_rig.h"

namespace forebay::store {
namespace {

constexpr std::uint64_t kDeviceBytes = 6 * kMiB;
constexpr Nanos kPatience{50'000'000};

std::uint64_t number_of(const char* variable, std::uint64_t otherwise) {
  const char* wanted = std::getenv(variable);
  return wanted == nullptr ? otherwise : std::strtoull(wanted, nullptr, 10);
}

StoreOptions options_of(Rng& rng) {
  const auto names = policy::policy_names();
  StoreOptions options;
  options.policy = names[rng.below(names.size())];
  options.admission = rng.chance(0.3) ? "reuse" : "all";
  options.write_back_bytes_max = (4 + rng.below(60)) * 8192;
  if (rng.chance(0.6)) options.dram_bytes = (8 + rng.below(64)) * 8192;
  if (rng.chance(0.3)) {
    options.quotas = {{.tenant = "t",
                       .dram_bytes_max = (4 + rng.below(20)) * 8192,
                       .flash_bytes_max = (4 + rng.below(100)) * 12288}};
  }
  options.prefill_ns_per_token = Nanos(static_cast<std::int64_t>(rng.below(2) * 1'000'000));
  return options;
}

class ModelTrial {
 public:
  explicit ModelTrial(std::uint64_t seed)
      : seed_(seed), rng_(Rng(seed).fork("model")), rig_(options_of(rng_), kDeviceBytes, seed) {}

  void run() {
    SCOPED_TRACE(fmt::format("FOREBAY seed {}", seed_));
    ASSERT_TRUE(rig_.open().has_value());
    for (unsigned step = 0; step < 150; ++step) {
      act();
      if (rig_.store == nullptr || ::testing::Test::HasFailure()) return;
      check_limits();
    }
    calm();
    expect_opens();
  }

 private:
  void act() {
    const std::uint64_t first = rng_.below(30) * 100;
    const std::size_t count = 1 + rng_.below(10);
    const std::uint64_t dice = rng_.below(100);
    if (dice < 40) {
      put(first, count);
    } else if (dice < 75) {
      ask(first, count);
    } else if (dice < 80) {
      (void)rig_.flush();
    } else if (dice < 84) {
      remove(first + rng_.below(count));
    } else if (dice < 88) {
      prefetch(first, count);
    } else if (dice < 95) {
      disturb();
    } else if (dice < 98) {
      calm();
    } else {
      calm();
      expect_opens();
    }
  }
  void put(std::uint64_t first, std::size_t count) {
    const Nanos start = rig_.loop->now();
    const auto statuses = rig_.put(first, count, kPatience);
    EXPECT_LE(rig_.loop->now() - start, kPatience + kSlack);
    for (std::size_t i = 0; i < count; ++i) {
      if (statuses[i]) put_.insert(first + i);
    }
  }
  void ask(std::uint64_t first, std::size_t count) {
    const std::size_t present = rig_.lookup(first, count);
    const auto got = rig_.get(first, count, kPatience);
    EXPECT_EQ(got.wrong_blocks, 0U);
    EXPECT_LE(got.took, kPatience);
    // A write that was reported and lost is found by the read; from then on it is no more than a
    // miss.
    if (quiet_ && !lied_) EXPECT_GE(got.leading_blocks, present);
    for (std::size_t i = 0; i < count; ++i) {
      if (got.misses[i] == MissReason::kNone) EXPECT_TRUE(put_.contains(first + i));
    }
  }
  void remove(std::uint64_t number) {
    // Without a durable word of it the block may come back with a restart; never before.
    (void)rig_.remove(number);
    EXPECT_FALSE(rig_.store->block_bytes(test_id(number)).has_value());
  }
  void prefetch(std::uint64_t first, std::size_t count) {
    std::vector<BlockId> chain;
    for (std::size_t i = 0; i < count; ++i) chain.push_back(test_id(first + i));
    CancelSource cancel;
    rig_.store->prefetch(chain, {.space = rig_.space, .cancel = &cancel});
    if (rng_.chance(0.5)) rig_.loop->run(sleep_a_little(rig_.loop.get()));
    if (rng_.chance(0.5)) ask(first, count);
    cancel.cancel();
  }
  void disturb() {
    quiet_ = false;
    if (rng_.chance(0.1)) {
      rig_.engine->set_vanished(true);
      return;
    }
    io::FaultRule rule;
    rule.kind = static_cast<io::FaultKind>(rng_.below(io::kFaultKindCount));
    rule.probability = 0.05 + 0.3 * rng_.uniform();
    rule.count = 1 + rng_.below(20);
    rule.latency = Nanos(static_cast<std::int64_t>(rng_.below(100'000'000)));
    rig_.engine->faults().add(rule);
    lied_ = true;
  }
  void calm() {
    rig_.engine->faults().clear();
    rig_.engine->set_vanished(false);
    rig_.engine->release_stuck();
    for (int i = 0; i < 40; ++i) rig_.loop->run(sleep_long(rig_.loop.get()));
    quiet_ = true;
  }
  void expect_opens() {
    if (rng_.chance(0.5)) (void)rig_.close();
    const Status opened = rig_.reopen();
    EXPECT_TRUE(opened.has_value()) << to_string(opened.error());
  }
  void check_limits() {
    const StoreStats stats = rig_.store->stats();
    const auto& dram = stats.tiers[static_cast<std::size_t>(Tier::kDram)];
    EXPECT_LE(dram.used_bytes, dram.capacity_bytes);
    EXPECT_LE(stats.flash.live_bytes, stats.flash.capacity_bytes);
    EXPECT_LE(stats.flash.capacity_bytes, kDeviceBytes);
  }
  static Task<void> sleep_long(io::Loop* loop) { co_await loop->sleep_for(Nanos(100'000'000)); }

  // A turn of the loop may pass between the deadline and its answer.
  static constexpr Nanos kSlack{1'000'000};
  std::uint64_t seed_;
  Rng rng_;
  DiskRig rig_;
  std::set<std::uint64_t> put_;
  bool quiet_ = true;
  bool lied_ = false;
};

TEST(StoreModel, AgreesWithTheOracleOnADiskThatLies) {
  set_log_level(LogLevel::kOff);
  const std::uint64_t first = number_of("FOREBAY_SEED", 1);
  const std::uint64_t trials = number_of("FOREBAY_TRIALS", 25);
  for (std::uint64_t seed = first; seed < first + trials && !::testing::Test::HasFailure();
       ++seed) {
    ModelTrial(seed).run();
  }
  set_log_level(LogLevel::kInfo);
}

}  // namespace
}  // namespace forebay::store
