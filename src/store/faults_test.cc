// Every kind of fault under a running workload through the whole store: no call outlives its
// deadline, no byte is wrong, and each block that was not delivered is counted with its reason.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "core/log.h"
#include "store/disk_rig.h"

namespace forebay::store {
namespace {

constexpr std::uint64_t kDeviceBytes = 6 * kMiB;
constexpr Nanos kDeadline{20'000'000};
constexpr std::uint64_t kChains = 40;
constexpr std::size_t kChainBlocks = 8;

struct Case {
  const char* name;
  std::optional<io::FaultKind> kind;  // nothing: the device vanishes and comes back
  std::optional<MissReason> reason;   // what its misses must be called; nothing: it causes none
};

std::ostream& operator<<(std::ostream& out, const Case& one) { return out << one.name; }

const std::vector<Case>& cases() {
  using io::FaultKind;
  static const std::vector<Case> all{
      {"IoError", FaultKind::kIoError, MissReason::kDevice},
      {"Short", FaultKind::kShort, MissReason::kDevice},
      {"TornWrite", FaultKind::kTornWrite, MissReason::kCorrupt},
      {"LostWrite", FaultKind::kLostWrite, MissReason::kCorrupt},
      {"Misdirected", FaultKind::kMisdirected, MissReason::kCorrupt},
      {"BitRot", FaultKind::kBitRot, MissReason::kCorrupt},
      {"Latency", FaultKind::kLatency, MissReason::kTimedOut},
      {"Stuck", FaultKind::kStuck, MissReason::kTimedOut},
      {"Full", FaultKind::kFull, std::nullopt},
      {"ReadOnly", FaultKind::kReadOnly, std::nullopt},
      {"Vanish", std::nullopt, MissReason::kDevice},
  };
  return all;
}

class Workload {
 public:
  explicit Workload(std::uint64_t seed)
      : rng_(Rng(seed).fork("faults")), rig_(options(), kDeviceBytes, seed) {}

  DiskRig& rig() { return rig_; }
  void run(int steps) {
    for (int step = 0; step < steps; ++step) {
      const std::uint64_t first = rng_.below(kChains) * 100;
      const Nanos start = rig_.loop->now();
      if (rng_.chance(0.3)) {
        rig_.put(first, kChainBlocks, kDeadline);
        EXPECT_LE(rig_.loop->now() - start, kDeadline);
        continue;
      }
      const auto got = rig_.get(first, kChainBlocks, kDeadline);
      EXPECT_LE(got.took, kDeadline);
      EXPECT_EQ(got.wrong_blocks, 0U);
      for (const MissReason miss : got.misses) ++misses_[static_cast<std::size_t>(miss)];
    }
  }
  [[nodiscard]] std::uint64_t misses(MissReason reason) const {
    return misses_[static_cast<std::size_t>(reason)];
  }
  // What callers saw is what the store counted.
  void expect_counted() {
    const StoreStats stats = rig_.store->stats();
    for (std::size_t reason = 1; reason < kMissReasonCount; ++reason) {
      EXPECT_EQ(stats.misses[reason], misses_[reason])
          << to_string(MissReason{static_cast<std::uint8_t>(reason)});
    }
  }

 private:
  static StoreOptions options() {
    StoreOptions options;
    options.dram_bytes = 32 * DiskRig::kBlockBytes;  // a tenth of the blocks: most come from flash
    options.policy = "lru";
    options.put_wait_max = kDeadline / 2;
    return options;
  }
  Rng rng_;
  DiskRig rig_;
  std::array<std::uint64_t, kMissReasonCount> misses_{};
};

Task<void> pause(io::Loop* loop, Nanos span) { co_await loop->sleep_for(span); }

class StoreFaults : public ::testing::TestWithParam<Case> {
 protected:
  StoreFaults() { set_log_level(LogLevel::kOff); }
  ~StoreFaults() override { set_log_level(LogLevel::kInfo); }
};

TEST_P(StoreFaults, NeverHangNeverLieAndEveryMissHasItsReason) {
  const Case& one = GetParam();
  std::uint64_t struck = 0;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    SCOPED_TRACE(seed);
    Workload work(seed);
    DiskRig& rig = work.rig();
    ASSERT_TRUE(rig.open().has_value());
    work.run(100);
    ASSERT_EQ(work.misses(MissReason::kDevice) + work.misses(MissReason::kCorrupt) +
                  work.misses(MissReason::kTimedOut),
              0U);
    if (one.kind) {
      rig.engine->faults().add({.kind = *one.kind, .probability = 0.2, .latency = 2 * kDeadline});
    } else {
      rig.engine->set_vanished(true);
    }
    work.run(150);
    if (one.kind) EXPECT_GT(rig.engine->faults().struck(*one.kind), 0U);
    rig.engine->faults().clear();
    rig.engine->set_vanished(false);
    rig.engine->release_stuck();
    rig.loop->run(pause(rig.loop.get(), Nanos(60'000'000'000)));
    if (one.reason) struck += work.misses(*one.reason);
    work.run(100);
    work.expect_counted();
    // It serves again, and opens again.
    rig.put(9000, kChainBlocks);
    EXPECT_EQ(rig.get(9000, kChainBlocks).leading_blocks, kChainBlocks);
    EXPECT_TRUE(rig.reopen().has_value());
  }
  if (one.reason) EXPECT_GT(struck, 0U) << "no miss was called " << to_string(*one.reason);
}

INSTANTIATE_TEST_SUITE_P(Kinds, StoreFaults, ::testing::ValuesIn(cases()),
                         [](const auto& instance) { return std::string(instance.param.name); });

}  // namespace
}  // namespace forebay::store
