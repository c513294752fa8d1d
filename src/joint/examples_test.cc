// The specifications that the README shows, each run in a shortened form in virtual time.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "joint/runner.h"
#include "report/folder.h"

namespace forebay::joint {
namespace {

namespace fs = std::filesystem;

struct Example {
  const char* name;
  std::uint64_t requests;
  const char* set;  // what else makes it small
};

class Examples : public testing::TestWithParam<Example> {
 protected:
  void TearDown() override { fs::remove_all(base_); }
  std::string base_ = fmt::format("{}example_{}", testing::TempDir(), GetParam().name);
};

TEST_P(Examples, RunsInVirtualTimeWithoutAWrongByte) {
  fs::remove_all(base_);
  JointOptions options;
  options.source.file =
      fmt::format("{}/examples/joint/{}.toml", FOREBAY_SOURCE_DIR, GetParam().name);
  options.source.text = report::read_text(options.source.file).value_or("");
  options.source.sets = {"run.virtual=true", "run.rounds=1",
                         fmt::format("run.requests={}", GetParam().requests), GetParam().set};
  options.output = base_;
  Diagnostics mistakes;
  const auto spec = read_spec(options.source, mistakes);
  if (!spec && mistakes.text().find("is not there") != std::string::npos) {
    GTEST_SKIP() << mistakes.text();
  }
  ASSERT_TRUE(spec) << mistakes.text();
  const auto outcome = run_joint(*spec, options, mistakes);
  ASSERT_TRUE(outcome) << mistakes.text();
  EXPECT_EQ(outcome->failure, "");
  EXPECT_TRUE(outcome->summary.valid);
  EXPECT_EQ(outcome->summary.rounds_complete, 1U);
  EXPECT_EQ(outcome->facts.published.size(), spec->published.size());
  std::size_t variants = 0;
  for (const SensitivitySpec& item : spec->sensitivity) variants += item.values.size();
  ASSERT_EQ(outcome->summary.variants.size(), variants);
  for (const auto& variant : outcome->summary.variants) {
    EXPECT_EQ(variant.arms.size(), spec->arms.size()) << variant.value;
  }
  std::uint64_t recomputed = 0;
  for (const report::ArmSummary& arm : outcome->summary.arms) {
    if (!arm.skipped.empty()) continue;
    EXPECT_GT(arm.request_count, 0U) << arm.name;
    EXPECT_EQ(arm.wrong_blocks, 0U);
    EXPECT_EQ(arm.failed_count, 0U);
    if (arm.kind == "recompute") recomputed = arm.blocks.recomputed;
    if (arm.kind == "forebay") {
      EXPECT_LT(arm.blocks.recomputed, recomputed);
    }
  }
  EXPECT_GT(fs::file_size(base_ + "/report.html"), 10'000U);
}

INSTANTIATE_TEST_SUITE_P(All, Examples,
                         testing::Values(Example{"quickstart", 60, "run.seed=1"},
                                         Example{"mooncake", 300, "run.warm_up_s=4"},
                                         Example{"cold16", 3, "run.scale=64"},
                                         Example{"long-context-480b", 2, "run.scale=1024"}),
                         [](const auto& info) {
                           std::string name = info.param.name;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace forebay::joint
