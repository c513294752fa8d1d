// Every fault kind under a running workload: no call outlives its deadline, no wrong byte is
// served, statuses say what happened, and the tier works again afterwards.
#include <gtest/gtest.h>

#include "store/tier/flash_rig.h"

namespace forebay::store {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

struct Tally {
  std::size_t calls = 0;
  std::size_t good = 0;
  std::size_t failed = 0;
  std::size_t wrong = 0;
  std::size_t late = 0;
  std::set<Errc> codes;
};

class FaultedWorkload {
 public:
  FaultedWorkload(FlashRig& rig, std::uint64_t seed) : rig_(rig), rng_(seed) {}

  void run(int steps) {
    for (int i = 0; i < steps; ++i) {
      const Nanos before = rig_.loop->now();
      if (rng_.chance(0.5)) {
        append();
      } else {
        read();
      }
      ++tally.calls;
      if (rig_.loop->now() - before > kDeadline) ++tally.late;
    }
  }
  Tally tally;

 private:
  static constexpr Nanos kDeadline = milliseconds(20);

  FlashCall call() {
    FlashCall made;
    made.io.deadline = rig_.loop->now() + kDeadline;
    return made;
  }
  void count(const std::vector<Status>& statuses) {
    for (const Status& status : statuses) {
      (status ? tally.good : tally.failed) += 1;
      if (!status) tally.codes.insert(status.error().code);
    }
  }
  void append() {
    const std::size_t count_now = 1 + rng_.below(4);
    count(
        rig_.append(next_, count_now, static_cast<std::uint32_t>(1 + rng_.below(20'000)), call()));
    next_ += count_now;
  }
  void read() {
    std::vector<std::uint64_t> wanted;
    for (std::uint64_t n = next_ > 40 ? next_ - 40 : 1; n < next_; ++n) {
      if (rig_.owner->known.contains(rig_id(n)) && rng_.chance(0.3)) wanted.push_back(n);
    }
    const auto got = rig_.read(wanted, call());
    count(got.statuses);
    tally.wrong += got.wrong;
  }

  FlashRig& rig_;
  Rng rng_;
  std::uint64_t next_ = 1;
};

class EveryFault : public testing::TestWithParam<io::FaultKind> {};

TEST_P(EveryFault, NeverHangsNeverLiesAndIsOverWhenItIsOver) {
  const io::FaultKind kind = GetParam();
  std::set<Errc> codes;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    SCOPED_TRACE(testing::Message() << to_string(kind) << ", seed " << seed);
    RigOptions options;
    options.seed = seed;
    FlashRig rig(options);
    ASSERT_TRUE(rig.open());
    FaultedWorkload workload(rig, seed);
    workload.run(20);
    EXPECT_EQ(workload.tally.failed, 0U);
    rig.engine->faults().add({.kind = kind, .probability = 0.1, .latency = milliseconds(15)});
    workload.run(60);
    EXPECT_EQ(workload.tally.wrong, 0U);
    EXPECT_EQ(workload.tally.late, 0U);
    codes = workload.tally.codes;
    rig.engine->faults().clear();
    rig.engine->release_stuck();
    // A tier that went read-only probes its way back, in at most a minute of its time.
    rig.loop->run(pause(rig.loop.get(), seconds(60)));
    const Tally before = workload.tally;
    workload.run(30);
    EXPECT_EQ(workload.tally.wrong, 0U);
    EXPECT_EQ(workload.tally.late, before.late);
    EXPECT_EQ(rig.tier->stats().mode, FlashMode::kReadWrite) << rig.tier->stats().mode_reason;
    EXPECT_GT(workload.tally.good, before.good);
    // What lands wrong stays wrong, and says so; nothing else fails any more.
    for (const Errc code : workload.tally.codes) {
      EXPECT_TRUE(codes.contains(code) || code == Errc::kCorrupt) << to_string(code);
    }
    ASSERT_TRUE(rig.reopen());
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, EveryFault,
                         testing::Values(io::FaultKind::kIoError, io::FaultKind::kShort,
                                         io::FaultKind::kTornWrite, io::FaultKind::kLostWrite,
                                         io::FaultKind::kMisdirected, io::FaultKind::kBitRot,
                                         io::FaultKind::kLatency, io::FaultKind::kStuck,
                                         io::FaultKind::kFull, io::FaultKind::kReadOnly),
                         [](const auto& kind) {
                           std::string name = to_string(kind.param);
                           std::erase_if(name,
                                         [](char c) { return c == ' ' || c == '_' || c == '-'; });
                           return name;
                         });

Task<void> both(Task<std::vector<Status>> a, Task<std::vector<Status>> b) {
  a.start();
  b.start();
  (void)co_await a;
  (void)co_await b;
}

// What a failed flush was to keep may be gone, and no later flush brings it back: the header of the
// open segment among it. What is acknowledged after that must be there all the same.
TEST(FlashFaults, AfterAFailedFlushNothingLeansOnWhatItWasToKeep) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    RigOptions options;
    options.seed = seed;
    FlashRig rig(options);
    ASSERT_TRUE(rig.open());
    rig.engine->faults().add(
        {.kind = io::FaultKind::kIoError, .op = io::OpKind::kFlush, .skip = seed % 3, .count = 1});
    // Two calls at once, so that one writes while the other's flush fails.
    for (std::uint64_t first = 1; first < 40; first += 4) {
      rig.loop->run(both(FlashRig::append_chain(&rig, first, 2, 9000, {}),
                         FlashRig::append_chain(&rig, first + 2, 2, 9000, {})));
    }
    const auto acknowledged = rig.owner->known;
    EXPECT_GE(acknowledged.size(), 30U);
    EXPECT_LT(acknowledged.size(), 40U);  // the flush did fail
    Rng rng(seed);
    rig.power_off();
    rig.disk().crash(rng);
    rig.power_on();
    ASSERT_TRUE(rig.open());
    for (const auto& [id, known] : acknowledged) EXPECT_TRUE(rig.owner->known.contains(id));
  }
}

Errc first_error(const std::vector<Status>& statuses) {
  return statuses[0] ? Errc{} : statuses[0].error().code;
}

TEST(FlashFaults, EachFaultHasItsStatus) {
  struct Case {
    io::FaultKind kind;
    io::OpKind op;
    Errc code;
  };
  const Case cases[] = {
      {io::FaultKind::kIoError, io::OpKind::kRead, Errc::kIo},
      {io::FaultKind::kShort, io::OpKind::kRead, Errc::kIo},
      {io::FaultKind::kBitRot, io::OpKind::kRead, Errc::kCorrupt},
      {io::FaultKind::kIoError, io::OpKind::kWrite, Errc::kIo},
      {io::FaultKind::kFull, io::OpKind::kWrite, Errc::kNoSpace},
      {io::FaultKind::kReadOnly, io::OpKind::kWrite, Errc::kReadOnly},
  };
  for (const Case& one : cases) {
    FlashRig rig;
    ASSERT_TRUE(rig.open());
    (void)rig.append(1, 1, 16384);
    rig.engine->faults().add({.kind = one.kind, .op = one.op});
    const Errc code = one.op == io::OpKind::kRead ? first_error(rig.read({1}).statuses)
                                                  : first_error(rig.append(2, 1, 16384));
    // A flipped bit in the padding behind a header or the data harms nobody.
    EXPECT_TRUE(code == one.code || (one.code == Errc::kCorrupt && code == Errc{}))
        << to_string(one.kind) << ": " << to_string(code);
  }
}

TEST(FlashFaults, AFullDeviceTurnsItReadOnlyAndReadsGoOn) {
  FlashRig rig;
  ASSERT_TRUE(rig.open());
  (void)rig.append(1, 4, 16384);
  rig.engine->faults().add({.kind = io::FaultKind::kFull, .op = io::OpKind::kWrite});
  EXPECT_EQ(first_error(rig.append(5, 1, 4096)), Errc::kNoSpace);
  EXPECT_EQ(first_error(rig.append(6, 1, 4096)), Errc::kReadOnly);
  EXPECT_EQ(rig.tier->stats().mode, FlashMode::kReadOnly);
  EXPECT_NE(rig.tier->stats().mode_reason.find("space"), std::string::npos);
  EXPECT_EQ(rig.read({1, 2, 3, 4}).good, 4U);
  rig.engine->faults().clear();
  rig.loop->run(pause(rig.loop.get(), seconds(40)));
  EXPECT_TRUE(rig.append(7, 1, 4096)[0]);
}

TEST(FlashFaults, AVanishedDeviceIsAMissAtOnceAndComesBackByItself) {
  FlashRig rig;
  ASSERT_TRUE(rig.open());
  (void)rig.append(1, 4, 16384);
  rig.engine->set_vanished(true);
  EXPECT_EQ(first_error(rig.read({1}).statuses), Errc::kGone);
  EXPECT_EQ(rig.tier->stats().mode, FlashMode::kGone);
  const Nanos before = rig.loop->now();
  EXPECT_EQ(first_error(rig.read({2}).statuses), Errc::kGone);
  EXPECT_EQ(first_error(rig.append(9, 1, 4096)), Errc::kGone);
  EXPECT_EQ(rig.loop->now(), before) << "asked nobody";
  rig.loop->run(pause(rig.loop.get(), seconds(100)));
  EXPECT_EQ(rig.tier->stats().mode, FlashMode::kGone);
  rig.engine->set_vanished(false);
  rig.loop->run(pause(rig.loop.get(), seconds(40)));
  EXPECT_EQ(rig.tier->stats().mode, FlashMode::kReadWrite);
  EXPECT_EQ(rig.read({1, 2, 3, 4}).good, 4U);
  EXPECT_TRUE(rig.append(10, 1, 4096)[0]);
}

TEST(FlashFaults, ADeviceThatComesBackWithoutWritesIsReadOnly) {
  FlashRig rig;
  ASSERT_TRUE(rig.open());
  (void)rig.append(1, 4, 16384);
  rig.engine->set_vanished(true);
  (void)rig.read({1});
  rig.engine->faults().add({.kind = io::FaultKind::kReadOnly, .op = io::OpKind::kWrite});
  rig.engine->set_vanished(false);
  rig.loop->run(pause(rig.loop.get(), seconds(40)));
  EXPECT_EQ(rig.tier->stats().mode, FlashMode::kReadOnly);
  EXPECT_EQ(rig.read({1, 2, 3, 4}).good, 4U);
}

TEST(FlashFaults, ATierMayGoWhileTheDeviceIsStuck) {
  FlashRig rig;
  ASSERT_TRUE(rig.open());
  (void)rig.append(1, 4, 16384);
  rig.engine->faults().add({.kind = io::FaultKind::kStuck});
  FlashCall call;
  call.io.deadline = rig.loop->now() + milliseconds(2);
  EXPECT_EQ(first_error(rig.read({1}, call).statuses), Errc::kTimedOut);
  EXPECT_EQ(first_error(rig.append(9, 1, 4096, call)), Errc::kTimedOut);
  EXPECT_EQ(rig.loop->run(rig.tier->close(call)).error().code, Errc::kTimedOut);
  rig.tier.reset();
  rig.engine->faults().clear();
  rig.drain();
  ASSERT_TRUE(rig.reopen());
  EXPECT_EQ(rig.read({1, 2, 3, 4}).good, 4U);
}

}  // namespace
}  // namespace forebay::store
