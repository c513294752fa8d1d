// A device too slow for its run: what is in flight when a store closes, a stop, a standstill.
#include "joint/runner_testing.h"

namespace forebay::joint {
namespace {

using SlowDevice = RunnerRig;

// A device that takes a minute for everything and one request a second, and no DRAM to hide it.
std::vector<std::string> slow_device() {
  return {"run.rounds=1",
          "storage.dram_bytes=0",
          "arm.dram.dram_bytes=4MiB",
          "storage.operations_per_second=1",
          "storage.latency_us=60000000",
          "workload.request_count=80",
          "workload.sessions_per_s=4"};
}

// The store gives up on its device a minute after it was told to close, with requests still there.
TEST_F(SlowDevice, ADeviceThatIsStillBusyWhenItsStoreIsClosedIsWaitedFor) {
  const auto outcome = run(kSmall, "a", slow_device());
  ASSERT_TRUE(outcome) << mistakes_.text();
  EXPECT_EQ(outcome->failure, "");
  EXPECT_EQ(outcome->summary.rounds_complete, 1U);
  EXPECT_EQ(arm(*outcome, "forebay").wrong_blocks, 0U);
}

TEST_F(SlowDevice, AStopInTrueTimeDoesNotWaitForASlowDevice) {
  options_.on_progress = [&](const Progress& at) { stop_ = at.arm == "forebay"; };
  std::vector<std::string> sets = slow_device();
  sets.emplace_back("run.virtual=false");
  const auto outcome = run(kSmall, "a", sets);
  ASSERT_TRUE(outcome) << mistakes_.text();
  EXPECT_EQ(outcome->summary.partial, "stopped by a signal");
  EXPECT_FALSE(fs::exists(base_ + "/a/stores"));
}

// Rates that a specification may not name: each request of the device takes days.
class Standstill : public RunnerRig {
 protected:
  std::optional<RunOutcome> run_at(double operations_per_second) {
    options_.source = {"joint.toml", std::string(kSmall), {"run.rounds=1"}};
    options_.output = base_ + "/a";
    options_.stop = &stop_;
    auto spec = read_spec(options_.source, mistakes_);
    if (!spec) return std::nullopt;
    for (ArmSpec& each : spec->arms) each.operations_per_second = operations_per_second;
    return run_joint(*spec, options_, mistakes_);
  }
};

TEST_F(Standstill, IsGivenUpInVirtualTime) {
  for (const double rate : {1e-7, 1e-9, 1e-300}) {
    const auto outcome = run_at(rate);
    ASSERT_TRUE(outcome) << mistakes_.text();
    EXPECT_FALSE(outcome->summary.valid);
    ASSERT_FALSE(outcome->facts.notes.empty());
    EXPECT_NE(outcome->facts.notes.back().find("arm forebay failed in round 1: nothing got on"),
              std::string::npos)
        << outcome->facts.notes.back();
    fs::remove_all(base_);
  }
}

// Half a day a request: it does get on, for months.
TEST_F(Standstill, IsStoppedInVirtualTime) {
  options_.on_progress = [&](const Progress& at) { stop_ = at.arm == "forebay"; };
  const auto outcome = run_at(2e-5);
  ASSERT_TRUE(outcome) << mistakes_.text();
  EXPECT_EQ(outcome->summary.partial, "stopped by a signal");
}

}  // namespace
}  // namespace forebay::joint
