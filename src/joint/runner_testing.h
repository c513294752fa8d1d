// A joint test of tests: a small specification, a folder of its own, and what a run left in it.
#pragma once

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "joint/runner.h"
#include "report/folder.h"

namespace forebay::joint {

namespace fs = std::filesystem;

// A small engine with round figures: 64 KiB blocks of 64 tokens, 20,000 tokens a second.
inline constexpr std::string_view kSmall = R"([run]
rounds = 2
virtual = true

[workload]
kind = "generated"
request_count = 40
sessions_per_s = 40
turns_mean = 2
think_s_median = 0.2
system_prompt_count = 8
system_prompt_tokens = 1024
new_tokens_median = 200
new_tokens_max = 512
output_tokens_median = 4
output_tokens_max = 8
context_tokens_max = 4096
block_tokens = 64

[engine]
kv_bytes_per_token = 1024
hbm_kv_bytes = "8MiB"
prefill_tokens_per_second = 20000
decode_seconds_per_step = 0.005

[storage]
dram_bytes = "4MiB"
flash_bytes = "256MiB"

[[arm]]
kind = "recompute"
[[arm]]
kind = "dram"
[[arm]]
kind = "forebay"
)";

class RunnerRig : public testing::Test {
 protected:
  void SetUp() override { fs::remove_all(base_); }
  void TearDown() override { fs::remove_all(base_); }

  std::optional<RunOutcome> run(std::string_view text, const std::string& name,
                                std::vector<std::string> sets = {}) {
    options_.source = {"joint.toml", std::string(text), std::move(sets)};
    options_.output = base_ + "/" + name;
    options_.stop = &stop_;
    const auto spec = read_spec(options_.source, mistakes_);
    if (!spec) return std::nullopt;
    return run_joint(*spec, options_, mistakes_);
  }
  std::string read(const std::string& name, std::string_view file) {
    return report::read_text(fmt::format("{}/{}/{}", base_, name, file)).value_or("");
  }
  report::RunLog log_of(const std::string& name) {
    auto log = report::read_folder(base_ + "/" + name, mistakes_);
    EXPECT_TRUE(log) << mistakes_.text();
    return log.value_or(report::RunLog{});
  }
  // What `report show` says of a folder.
  std::vector<std::string> differences(const std::string& name) {
    const report::RunLog log = log_of(name);
    return report::compare_summaries(read(name, report::kSummaryFile),
                                     report::summary_to_json(report::summarise(log), log.facts));
  }

  std::string base_ = testing::TempDir() + "runner_" +
                      testing::UnitTest::GetInstance()->current_test_info()->name();
  Diagnostics mistakes_;
  std::atomic<bool> stop_{false};
  JointOptions options_;
};

inline const report::ArmSummary& arm(const RunOutcome& outcome, std::string_view name) {
  const auto at = std::ranges::find(outcome.summary.arms, name, &report::ArmSummary::name);
  EXPECT_NE(at, outcome.summary.arms.end());
  return *at;
}

}  // namespace forebay::joint
