// Power cuts and kills at every write point of append, seal, reclaim, checkpoint and format.
//
// The oracle is the owner's map at the moment of the cut: what append() acknowledged and nobody
// forgot or dropped must be there again, byte for byte; nothing may ever come back with other bytes
// than its own; what was forgotten durably must stay away. A failing trial names its seed and cut.
#include <gtest/gtest.h>

#include <cstdlib>
#include <set>
#include <utility>

#include "store/tier/flash_rig.h"

namespace forebay::store {
namespace {

constexpr std::uint64_t kDeviceBytes = 1 << 20;
constexpr std::uint64_t kNever = ~std::uint64_t{0};

// More trials than a unit test may take: FOREBAY_TRIALS=10000.
std::uint64_t trial_count(std::uint64_t usual) {
  const char* wanted = std::getenv("FOREBAY_TRIALS");
  return wanted == nullptr ? usual : std::strtoull(wanted, nullptr, 10);
}

RigOptions crash_options(std::uint64_t seed) {
  RigOptions options;
  options.device_bytes = kDeviceBytes;
  options.seed = seed;
  options.flash.moved_fraction_max = 0.5;
  return options;
}

// One workload from a seed; lives go on until the power is cut or the steps are done.
class Workload {
 public:
  Workload(FlashRig& rig, std::uint64_t seed) : rig_(rig), rng_(seed) {}

  void run(int steps) {
    for (int step = 0; step < steps && alive(); ++step) {
      const std::uint64_t dice = rng_.below(100);
      if (dice < 70) {
        append();
      } else if (dice < 78) {
        forget(true);
      } else if (dice < 86) {
        forget(false);
      } else if (dice < 90) {
        (void)rig_.loop->run(rig_.tier->checkpoint());
        keep();
      } else if (dice < 92) {
        if (rig_.loop->run(rig_.tier->close()) && alive()) (void)rig_.reopen();
      } else {
        read_some();
      }
    }
  }

  [[nodiscard]] std::uint64_t appended() const { return next_; }
  [[nodiscard]] const std::set<std::uint64_t>& buried() const { return buried_; }
  [[nodiscard]] std::size_t wrong() const { return wrong_; }
  // Of what was given to be kept: the last that was acknowledged, and the last at all; 0: nothing.
  [[nodiscard]] std::uint64_t kept() const { return kept_; }
  [[nodiscard]] std::uint64_t keep_tried() const { return keep_tried_; }

 private:
  [[nodiscard]] bool alive() const { return rig_.tier != nullptr && !rig_.engine->power_is_cut(); }

  void append() {
    const auto bytes = static_cast<std::uint32_t>(1 + rng_.below(20'000));
    if (!buried_.empty() && rng_.chance(0.2)) {
      // A block that was removed comes back: it must not share its tombstone's fate.
      const std::uint64_t number = *buried_.begin();
      (void)rig_.append(number, 1, bytes);
      buried_.erase(number);  // acknowledged, it must be there; else it may be
      return;
    }
    const std::size_t count = 1 + rng_.below(4);
    const std::uint64_t first = std::exchange(next_, next_ + count);
    if (rng_.chance(0.6)) {
      (void)rig_.append(first, count, bytes);
      return;
    }
    // Two calls at once share flushes and the open segment.
    const std::uint64_t second = std::exchange(next_, next_ + 2);
    rig_.loop->run(both(FlashRig::append_chain(&rig_, first, count, bytes, {}),
                        FlashRig::append_chain(&rig_, second, 2, 5000, {})));
  }
  static Task<void> both(Task<std::vector<Status>> a, Task<std::vector<Status>> b) {
    a.start();
    b.start();
    (void)co_await a;
    (void)co_await b;
  }

  void forget(bool durable) {
    if (rig_.owner->known.empty()) return;
    auto at = rig_.owner->known.begin();
    std::advance(at, static_cast<std::ptrdiff_t>(rng_.below(rig_.owner->known.size())));
    const BlockId id = at->first;
    const MapOwner::Known known = at->second;
    rig_.owner->known.erase(at);
    const Status status =
        rig_.loop->run(rig_.tier->forget(id, known.page, known.data_bytes, durable));
    if (!durable || !status) return;
    for (std::uint64_t n = 1; n < next_; ++n) {
      if (rig_id(n) == id) buried_.insert(n);
    }
  }

  void keep() {
    const std::uint64_t number = ++keep_tried_;
    if (rig_.loop->run(rig_.tier->keep(bytes_of(number), {}))) kept_ = number;
  }

  void read_some() {
    std::vector<std::uint64_t> wanted;
    for (std::uint64_t n = 1; n < next_; ++n) {
      if (rig_.owner->known.contains(rig_id(n)) && rng_.chance(0.2)) wanted.push_back(n);
    }
    wrong_ += rig_.read(wanted).wrong;
  }

  FlashRig& rig_;
  Rng rng_;
  std::uint64_t next_ = 1;
  std::set<std::uint64_t> buried_;
  std::size_t wrong_ = 0;
  std::uint64_t kept_ = 0;
  std::uint64_t keep_tried_ = 0;
};

// What must hold after any end of a life.
void check_recovered(FlashRig& rig, const std::map<BlockId, MapOwner::Known>& acknowledged,
                     const Workload& workload) {
  std::vector<std::uint64_t> present;
  for (std::uint64_t n = 1; n < workload.appended(); ++n) {
    const BlockId id = rig_id(n);
    const bool here = rig.owner->known.contains(id);
    if (here) present.push_back(n);
    ASSERT_TRUE(here || !acknowledged.contains(id)) << "acknowledged block " << n << " is lost";
    ASSERT_FALSE(here && workload.buried().contains(n)) << "removed block " << n << " is back";
  }
  const std::uint64_t kept = rig.owner->kept.empty() ? 0 : load_as<std::uint64_t>(rig.owner->kept);
  ASSERT_GE(kept, workload.kept());
  ASSERT_LE(kept, workload.keep_tried());
  const auto got = rig.read(present);
  ASSERT_EQ(got.wrong + workload.wrong(), 0U);
  // Not even a block that nobody was promised: what recovery shows, it has proven.
  for (std::size_t i = 0; i < present.size(); ++i) {
    ASSERT_TRUE(got.statuses[i]) << "block " << present[i] << ": "
                                 << to_string(got.statuses[i].error());
  }
}

struct Trial {
  std::uint64_t seed = 1;
  std::uint64_t cut_after = kNever;         // writes, over all lives of the workload
  std::uint64_t second_cut_after = kNever;  // writes of the life that recovers from the first
  int steps = 60;
};

// Returns how many writes the workload started.
std::uint64_t power_cut_trial(const Trial& trial) {
  FlashRig rig(crash_options(trial.seed));
  rig.cut_power_after_writes(trial.cut_after);
  std::map<BlockId, MapOwner::Known> acknowledged;
  Workload workload(rig, trial.seed);
  if (rig.open()) {
    workload.run(trial.steps);
    acknowledged = rig.owner->known;
  }
  const std::uint64_t writes = rig.writes_started();
  if (trial.second_cut_after != kNever) {
    rig.power_off();
    rig.cut_power_after_writes(writes + trial.second_cut_after);
    rig.power_on();
    // Recovery itself seals what the crash left open; then it is cut in turn.
    if (rig.open()) {
      rig.drain();
      std::erase_if(acknowledged, [&rig](const auto& block) {
        return rig.owner->dropped_ids.contains(block.first);
      });
    }
  }
  rig.power_off();
  rig.cut_power_after_writes(kNever);
  rig.power_on();
  const Status reopened = rig.open();
  EXPECT_TRUE(reopened) << to_string(reopened.error());
  if (reopened) check_recovered(rig, acknowledged, workload);
  return writes;
}

TEST(FlashCrash, PowerCutAtEveryWritePointLosesNothingAcknowledged) {
  for (const std::uint64_t seed : {11U, 12U}) {
    Trial trial{.seed = seed, .steps = 40};
    const std::uint64_t writes = power_cut_trial(trial);
    ASSERT_GT(writes, 100U);
    for (trial.cut_after = 0; trial.cut_after < writes; ++trial.cut_after) {
      SCOPED_TRACE(testing::Message() << "seed " << seed << " cut after " << trial.cut_after);
      power_cut_trial(trial);
      if (HasFailure()) return;
    }
  }
}

TEST(FlashCrash, PowerCutsAtRandomLoseNothingAcknowledged) {
  for (std::uint64_t seed = 1000; seed < 1000 + trial_count(300); ++seed) {
    Rng rng(seed);
    Trial trial{.seed = seed, .steps = 80};
    trial.cut_after = rng.below(rng.chance(0.5) ? 60 : 400);
    if (rng.chance(0.5)) trial.second_cut_after = rng.below(6);
    SCOPED_TRACE(testing::Message() << "seed " << seed << " cuts after " << trial.cut_after << ", "
                                    << trial.second_cut_after);
    power_cut_trial(trial);
    if (HasFailure()) return;
  }
}

// A kill leaves what the kernel already has: nothing is torn, everything stops between two writes.
TEST(FlashCrash, KillAtEveryWritePointLosesNothingAcknowledged) {
  std::uint64_t kill_at = 1;
  bool killed = true;
  for (; killed; ++kill_at) {
    SCOPED_TRACE(testing::Message() << "killed at write " << kill_at);
    RigOptions options = crash_options(13);
    std::uint64_t writes = 0;
    options.flash.kill_point = [&writes, &kill_at] { return ++writes >= kill_at; };
    FlashRig rig(options);
    Workload workload(rig, 13);
    std::map<BlockId, MapOwner::Known> acknowledged;
    if (rig.open()) {
      workload.run(40);
      acknowledged = rig.owner->known;
    }
    killed = writes >= kill_at;
    rig.options().flash.kill_point = nullptr;
    ASSERT_TRUE(rig.reopen());
    check_recovered(rig, acknowledged, workload);
    if (HasFailure()) return;
  }
  EXPECT_GT(kill_at, 100U);
}

// A checkpoint that is cut leaves the one before: no heat is lost, none is made up.
TEST(FlashCrash, PowerCutAtEveryWritePointOfACheckpointKeepsOneHeat) {
  bool cut = true;
  std::uint64_t after = 0;
  for (; cut; ++after) {
    SCOPED_TRACE(testing::Message() << "cut after " << after);
    FlashRig rig(crash_options(after));
    ASSERT_TRUE(rig.open());
    for (std::uint64_t n = 1; n < 25; n += 4) (void)rig.append(n, 4, 9000);
    rig.drain();
    const auto checkpoint = [&rig](std::uint32_t heat) {
      for (auto& [id, known] : rig.owner->known) known.heat = heat;
      return rig.loop->run(rig.tier->checkpoint());
    };
    ASSERT_TRUE(checkpoint(1));
    rig.cut_power_after_writes(rig.writes_started() + after);
    cut = !checkpoint(2);
    rig.power_off();
    rig.cut_power_after_writes(kNever);
    rig.power_on();
    ASSERT_TRUE(rig.open());
    EXPECT_GT(rig.owner->known.size(), 15U);
    for (const auto& [id, known] : rig.owner->known) {
      EXPECT_TRUE(known.heat == (cut ? 1U : 2U) || known.heat == 2U) << known.heat;
    }
  }
  EXPECT_GT(after, 5U);
}

}  // namespace
}  // namespace forebay::store
