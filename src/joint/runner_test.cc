#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <set>

#include "joint/runner_testing.h"
#include "joint/spec_facts.h"
#include "report/checks.h"
#include "report/cross_check.h"
#include "report/folder.h"

namespace forebay::joint {
namespace {

// Sixteen prompts of 2,048 tokens at once, stored before, DRAM empty.
constexpr std::string_view kColdBatch = R"([run]
rounds = 1
virtual = true
prepare = true
restart = true

[workload]
kind = "batch"
batch_requests = 16
input_tokens = 2049
output_tokens = 1

[engine]
block_tokens = 64
kv_bytes_per_token = 4096
hbm_kv_bytes = "256MiB"
prefill_tokens_per_second = 1000
decode_seconds_per_step = 0.005

[storage]
dram_bytes = "32MiB"
flash_bytes = "512MiB"
bytes_per_second = "64MiB"

[[arm]]
kind = "forebay"
)";

using Runner = RunnerRig;

TEST_F(Runner, EveryArmServesTheSameRequestsAndNoByteIsWrong) {
  const auto outcome = run(kSmall, "a");
  ASSERT_TRUE(outcome) << mistakes_.text();
  EXPECT_EQ(outcome->failure, "");
  EXPECT_TRUE(outcome->summary.valid);
  EXPECT_EQ(outcome->summary.rounds_complete, 2U);
  const report::RunLog log = log_of("a");
  EXPECT_EQ(log.cells.size(), 6U);
  EXPECT_EQ(log.requests.size(), 240U);
  std::set<std::tuple<std::int64_t, std::int64_t, std::int64_t>> seen;
  for (const report::RequestRow& row : log.requests) {
    EXPECT_TRUE(row.done());
    EXPECT_EQ(row.wrong_blocks, 0);
    // The five parts of a TTFT are all of it.
    EXPECT_EQ(row.queue_ns + row.lookup_ns + row.read_ns + row.recompute_ns + row.other_ns,
              row.ttft_ns());
    EXPECT_TRUE(seen.insert({row.round, row.arm, row.index}).second);
  }
  // The workload differs by round, not by arm.
  const auto tokens = [&](std::int64_t round, std::int64_t wanted_arm) {
    std::int64_t sum = 0;
    for (const report::RequestRow& row : log.requests) {
      if (row.round == round && row.arm == wanted_arm) sum += row.input_tokens;
    }
    return sum;
  };
  EXPECT_EQ(tokens(0, 0), tokens(0, 2));
  EXPECT_EQ(tokens(1, 0), tokens(1, 2));
  EXPECT_NE(tokens(0, 0), tokens(1, 0));
}

TEST_F(Runner, ATierMoreIsComputedLess) {
  const auto outcome = run(kSmall, "a");
  ASSERT_TRUE(outcome) << mistakes_.text();
  const auto computed = [&](std::string_view name) {
    return arm(*outcome, name).blocks.recomputed;
  };
  EXPECT_LT(computed("dram"), computed("recompute"));
  EXPECT_LT(computed("forebay"), computed("dram"));
  EXPECT_EQ(arm(*outcome, "recompute").blocks.dram + arm(*outcome, "recompute").blocks.flash, 0U);
  EXPECT_EQ(arm(*outcome, "dram").blocks.flash, 0U);
  EXPECT_GT(arm(*outcome, "forebay").blocks.flash, 0U);
  EXPECT_GT(arm(*outcome, "forebay").device_written_bytes, 0U);
}

TEST_F(Runner, InVirtualTimeTheSameSeedGivesTheSameBytes) {
  ASSERT_TRUE(run(kSmall, "a")) << mistakes_.text();
  ASSERT_TRUE(run(kSmall, "b"));
  for (const auto file : {report::kRequestsFile, report::kCellsFile, report::kOpsFile,
                          report::kTrafficFile, report::kSummaryFile, report::kSpecFile}) {
    EXPECT_FALSE(read("a", file).empty()) << file;
    EXPECT_EQ(read("a", file), read("b", file)) << file;
  }
  ASSERT_TRUE(run(kSmall, "c", {"run.seed=2"}));
  EXPECT_NE(read("a", report::kRequestsFile), read("c", report::kRequestsFile));
}

TEST_F(Runner, TheSpecAsResolvedRunsTheSameAgain) {
  ASSERT_TRUE(run(kSmall, "a")) << mistakes_.text();
  ASSERT_TRUE(run(read("a", report::kSpecFile), "b")) << mistakes_.text();
  EXPECT_EQ(read("a", report::kRequestsFile), read("b", report::kRequestsFile));
}

// Changes every column of a log's second row in turn, and puts it back.
template <class Say>
void tamper_each_column(const std::string& path, Say say) {
  const std::string text = report::read_text(path).value_or("");
  const std::size_t header_end = text.find('\n');
  const std::size_t row = text.find('\n', header_end + 1) + 1;
  const std::string header = text.substr(0, header_end);
  std::size_t name_at = 0;
  for (std::size_t at = row; at < text.find('\n', row);) {
    const std::size_t end = text.find_first_of(",\n", at);
    const std::size_t name_end = std::min(header.find(',', name_at), header.size());
    std::string changed = text;
    changed.replace(at, end - at, text.substr(at, end - at) == "7" ? "8" : "7");
    std::ofstream(path, std::ios::binary) << changed;
    say(header.substr(name_at, name_end - name_at));
    name_at = name_end + 1;
    at = end + 1;
  }
  std::ofstream(path, std::ios::binary) << text;
}

TEST_F(Runner, ATamperedFigureIsNamedWhereverItStands) {
  ASSERT_TRUE(run(kSmall, "a")) << mistakes_.text();
  const std::string folder = base_ + "/a";
  EXPECT_EQ(report::check_folder(folder), std::vector<std::string>{});
  EXPECT_EQ(report::cross_check(log_of("a")), std::vector<std::string>{});
  std::size_t columns = 0;
  for (const auto file :
       {report::kRequestsFile, report::kCellsFile, report::kOpsFile, report::kTrafficFile}) {
    tamper_each_column(fmt::format("{}/{}", folder, file), [&](const std::string& column) {
      ++columns;
      const auto changes = report::check_folder(folder);
      ASSERT_EQ(changes.size(), 1U) << column;
      EXPECT_TRUE(changes[0].starts_with(fmt::format("{}:3: column `{}` was", file, column)))
          << changes[0];
    });
  }
  EXPECT_EQ(columns, report::request_columns().size() + report::cell_columns().size() +
                         report::op_columns().size() + report::traffic_columns().size());
}

TEST_F(Runner, EveryLineOfRunJsonAndSpecTomlIsWatched) {
  ASSERT_TRUE(run(kSmall, "a")) << mistakes_.text();
  const std::string folder = base_ + "/a";
  for (const auto file : {report::kFactsFile, report::kSpecFile, report::kEnvironmentFile}) {
    const std::string path = fmt::format("{}/{}", folder, file);
    const std::string text = report::read_text(path).value_or("");
    std::size_t line = 1;
    for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1, ++line) {
      std::string changed = text;
      changed.insert(at, "x");
      std::ofstream(path, std::ios::binary) << changed;
      const auto changes = report::check_folder(folder);
      ASSERT_EQ(changes.size(), 1U);
      EXPECT_TRUE(changes[0].starts_with(fmt::format("{}:{}: was changed", file, line)))
          << changes[0];
    }
    std::ofstream(path, std::ios::binary) << text;
  }
}

TEST_F(Runner, TheSimulatedDiskAndItsThrottleAreNamedWithTheirRates) {
  const auto outcome = run(kSmall, "a",
                           {"run.rounds=1", "run.scale=2", "storage.bytes_per_second=64MB",
                            "storage.operations_per_second=5000", "storage.latency_us=150"});
  ASSERT_TRUE(outcome) << mistakes_.text();
  // io/sim.h: 3 GB/s, 80 us and up to 20 more.
  // Nothing in virtual time is this machine's disk.
  for (const report::Assumption& item : outcome->facts.assumptions) {
    EXPECT_EQ(item.value.find("this machine"), std::string::npos) << item.value;
  }
  ASSERT_EQ(outcome->facts.disks.size(), 2U);
  EXPECT_EQ(
      outcome->facts.disks[0],
      "simulated disk: 6.00 GB/s (3.00 GB/s as it ran, times scale 2) for reads and writes "
      "together, 80 to 100 us an operation before its bytes, 1024 operations at once, no limit "
      "of operations/s");
  EXPECT_EQ(outcome->facts.disks[1],
            "arm forebay: throttled to 64.0 MB/s for reads and as much for writes, 5,000 "
            "operations/s, 150 us more an operation");
}

TEST_F(Runner, RunJsonIsHeldAgainstTheSpec) {
  ASSERT_TRUE(run(kSmall, "a")) << mistakes_.text();
  const auto spec = read_spec({"spec.toml", read("a", report::kSpecFile), {}}, mistakes_);
  ASSERT_TRUE(spec) << mistakes_.text();
  report::RunFacts facts = log_of("a").facts;
  EXPECT_EQ(compare_with_spec(facts, *spec), std::vector<std::string>{});
  facts.rounds_wanted = 9;
  facts.thresholds.lag_ms_max = 500;
  EXPECT_EQ(compare_with_spec(facts, *spec),
            (std::vector<std::string>{
                "run.json: `rounds_wanted` is 9, spec.toml has `run.rounds` = 2",
                "run.json: `lag_ms_max` is 500, spec.toml has `run.lag_ms_max` = 10"}));
}

TEST_F(Runner, EveryFigureIsRecomputedFromTheRawLogs) {
  ASSERT_TRUE(run(kSmall, "a")) << mistakes_.text();
  EXPECT_TRUE(differences("a").empty());
  // One digit of one request.
  std::string text = read("a", report::kRequestsFile);
  const std::size_t row = text.find('\n', text.size() / 2) + 1;
  const std::size_t state = text.find(",done,", row);
  text[state + 6] = text[state + 6] == '9' ? '8' : '9';
  std::ofstream(base_ + "/a/requests.csv", std::ios::binary) << text;
  const auto found = differences("a");
  ASSERT_FALSE(found.empty());
  EXPECT_NE(found[0].find("the raw log gives"), std::string::npos);
}

TEST_F(Runner, ALateCellIsDoneAgainTwiceAndItsAttemptsAreKept) {
  // No client is on time to the nanosecond: the first cell is late in all its attempts, and then
  // none is done again.
  const auto outcome =
      run(kSmall, "a", {"run.virtual=false", "run.lag_ms_max=0", "run.requests=4"});
  ASSERT_TRUE(outcome) << mistakes_.text();
  EXPECT_TRUE(outcome->summary.inconclusive);
  const report::RunLog log = log_of("a");
  EXPECT_EQ(log.cells.size(), 6U);
  EXPECT_EQ(log.requests.size(), 24U);
  ASSERT_EQ(log.late_cells.size(), 2U);
  EXPECT_EQ(log.late_requests.size(), 8U);
  EXPECT_EQ(outcome->summary.late.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(log.late_cells[i].attempt, static_cast<std::int64_t>(i) + 1);
    EXPECT_EQ(log.late_cells[i].arm, log.cells[0].arm);
  }
  EXPECT_EQ(differences("a"), std::vector<std::string>{});
  EXPECT_EQ(report::cross_check(log), std::vector<std::string>{});
  EXPECT_EQ(report::check_folder(base_ + "/a"), std::vector<std::string>{});
}

TEST_F(Runner, AKeptStoreIsGivenNoCellTwice) {
  const auto outcome =
      run(kSmall, "a",
          {"run.virtual=false", "run.lag_ms_max=0", "run.requests=4", "run.state=\"kept\""});
  ASSERT_TRUE(outcome) << mistakes_.text();
  EXPECT_TRUE(outcome->summary.inconclusive);
  EXPECT_TRUE(log_of("a").late_cells.empty());
}

TEST_F(Runner, AStoppedRunLeavesAValidPartialReport) {
  std::size_t calls = 0;
  options_.on_progress = [&](const Progress&) { stop_ = ++calls > 60; };  // in the second cell
  const auto outcome = run(kSmall, "a");
  ASSERT_TRUE(outcome) << mistakes_.text();
  EXPECT_EQ(outcome->failure, "");
  EXPECT_EQ(outcome->summary.partial, "stopped by a signal");
  EXPECT_TRUE(outcome->summary.valid);
  EXPECT_EQ(outcome->summary.rounds_complete, 0U);
  const report::RunLog log = log_of("a");
  ASSERT_EQ(log.cells.size(), 2U);
  EXPECT_TRUE(log.cells[0].complete());
  EXPECT_EQ(log.cells[1].state, static_cast<int>(report::CellState::kPartial));
  EXPECT_TRUE(differences("a").empty());
  EXPECT_NE(read("a", report::kHtmlFile).find("partial: stopped by a signal"), std::string::npos);
}

TEST_F(Runner, UntilItEndsAFolderSaysThatTheRunDidNotEnd) {
  bool looked = false;
  options_.on_progress = [&](const Progress&) {
    if (std::exchange(looked, true)) return;
    EXPECT_EQ(log_of("a").facts.partial, "the run did not end");
  };
  ASSERT_TRUE(run(kSmall, "a")) << mistakes_.text();
  EXPECT_TRUE(looked);
  EXPECT_EQ(log_of("a").facts.partial, "");
}

TEST_F(Runner, FilesAreSkippedInVirtualTimeAndThatIsSaid) {
  const auto outcome = run(std::string(kSmall) + "[[arm]]\nkind = \"files\"\n", "a");
  ASSERT_TRUE(outcome) << mistakes_.text();
  EXPECT_EQ(arm(*outcome, "files").skipped, "its pool of threads has no virtual time");
  EXPECT_EQ(outcome->summary.rounds_complete, 2U);
}

// 16 x 32 blocks of 256 KiB over 64 MiB/s are 2 s; computing them would take 32 s.
TEST_F(Runner, APreparedAndReopenedStoreServesColdFromFlashAtTheDevicesRate) {
  const auto outcome = run(kColdBatch, "a");
  ASSERT_TRUE(outcome) << mistakes_.text();
  const report::ArmSummary& forebay = arm(*outcome, "forebay");
  EXPECT_EQ(forebay.blocks.flash, 16U * 32);
  EXPECT_EQ(forebay.blocks.dram, 0U);
  EXPECT_EQ(forebay.blocks.recomputed, 16U);  // the last token of each
  EXPECT_NEAR(*forebay.load_bytes_per_second, 64.0 * (1 << 20), 0.1 * 64 * (1 << 20));
  EXPECT_GT(*forebay.ttft_ns.max, 2.0e9);
  EXPECT_LT(*forebay.ttft_ns.max, 2.4e9);
}

TEST_F(Runner, ScaleDividesBytesAndRatesAndLeavesTimes) {
  const auto whole = run(kColdBatch, "a");
  const auto scaled = run(kColdBatch, "b", {"run.scale=4"});
  ASSERT_TRUE(whole && scaled) << mistakes_.text();
  EXPECT_EQ(arm(*scaled, "forebay").blocks.flash, 16U * 32);
  EXPECT_NEAR(*arm(*scaled, "forebay").ttft_ns.mean, *arm(*whole, "forebay").ttft_ns.mean,
              0.05 * *arm(*whole, "forebay").ttft_ns.mean);
  EXPECT_NEAR(*arm(*scaled, "forebay").load_bytes_per_second * 4,
              *arm(*whole, "forebay").load_bytes_per_second,
              0.05 * *arm(*whole, "forebay").load_bytes_per_second);
  EXPECT_NE(read("b", report::kHtmlFile).find("scale 1:4"), std::string::npos);
}

TEST_F(Runner, AKeptStoreIsWarmInTheNextRound) {
  const auto outcome =
      run(kColdBatch, "a",
          {"run.prepare=false", "run.restart=false", "run.state=kept", "run.rounds=2"});
  ASSERT_TRUE(outcome) << mistakes_.text();
  const report::RunLog log = log_of("a");
  std::array<std::int64_t, 2> flash_blocks{};
  for (const report::RequestRow& row : log.requests) {
    flash_blocks[static_cast<std::size_t>(row.round)] += row.flash_blocks;
  }
  EXPECT_EQ(flash_blocks[0], 0);
  EXPECT_GT(flash_blocks[1], 0);
}

TEST_F(Runner, RequestsOfTheWarmUpAreLoggedAndNotCounted) {
  const auto outcome = run(kSmall, "a", {"run.warm_up_s=0.3"});
  ASSERT_TRUE(outcome) << mistakes_.text();
  std::uint64_t counted = 0;
  for (const report::RequestRow& row : log_of("a").requests) {
    EXPECT_EQ(row.warm_up == 1, row.intended_ns < 300'000'000);
    counted += row.arm == 2 && row.warm_up == 0;
  }
  EXPECT_LT(counted, 80U);
  EXPECT_EQ(arm(*outcome, "forebay").request_count, counted);
}

TEST_F(Runner, ADeviceThatCannotBeOpenedFailsItsArmAndSaysWhy) {
  const auto outcome = run(kSmall, "a",
                           {"run.virtual=false", "run.state=kept", "run.requests=8",
                            "storage.device=" + base_ + "/no/such/folder/x"});
  ASSERT_TRUE(outcome) << mistakes_.text();
  EXPECT_FALSE(outcome->summary.valid);
  EXPECT_EQ(outcome->summary.invalid_reasons.back(), "forebay, round 1: could not run");
  const auto& notes = outcome->facts.notes;
  EXPECT_TRUE(std::ranges::any_of(notes, [](const std::string& note) {
    return note.find("arm forebay failed in round 1: open device") != std::string::npos;
  }));
}

TEST_F(Runner, WhatThisMachineCannotHoldIsRefusedBeforeAnythingRuns) {
  EXPECT_FALSE(run(kSmall, "a", {"storage.dram_bytes=\"900TiB\""}));
  EXPECT_NE(mistakes_.text().find("of memory"), std::string::npos);
  EXPECT_FALSE(fs::exists(base_ + "/a"));
}

TEST_F(Runner, RequestsThatCanNeverFitAreRefusedBeforeAnythingRuns) {
  EXPECT_FALSE(run(kSmall, "a", {"workload.context_tokens_max=16384"}));
  EXPECT_NE(mistakes_.text().find("can never fit into HBM, which holds 8192"), std::string::npos)
      << mistakes_.text();
}

TEST_F(Runner, AWarmUpThatWouldSwallowEverythingIsRefused) {
  EXPECT_FALSE(run(kSmall, "a", {"run.warm_up_s=60"}));
  EXPECT_NE(mistakes_.text().find("none would count"), std::string::npos) << mistakes_.text();
}

TEST_F(Runner, AnOutputFolderThatHoldsAResultIsNotWrittenOver) {
  ASSERT_TRUE(run(kSmall, "a")) << mistakes_.text();
  const std::string before = read("a", report::kFactsFile);
  EXPECT_FALSE(run(kSmall, "a"));
  EXPECT_NE(mistakes_.text().find("--output: "), std::string::npos);
  EXPECT_EQ(read("a", report::kFactsFile), before);
}

TEST_F(Runner, ASensitivityTableShowsHowTheOutcomeMoves) {
  const auto outcome =
      run(std::string(kColdBatch) +
              "[[sensitivity]]\nkey = \"storage.bytes_per_second\"\nvalues = [33554432, "
              "134217728]\n",
          "a");
  ASSERT_TRUE(outcome) << mistakes_.text();
  ASSERT_EQ(outcome->summary.variants.size(), 2U);
  const auto ttft = [&](std::size_t variant) {
    return *outcome->summary.variants[variant].arms.at(0).ttft_ns_mean;
  };
  const double base = *arm(*outcome, "forebay").ttft_ns.mean;
  EXPECT_NEAR(ttft(0) / base, 2, 0.2);
  EXPECT_NEAR(ttft(1) / base, 0.5, 0.05);
  EXPECT_TRUE(differences("a").empty());
}

// The same test on this machine's clock and disk, all four arms; no figure is asserted but that the
// bytes are right.
TEST_F(Runner, InTrueTimeAllFourArmsRun) {
  const auto outcome = run(std::string(kSmall) + "[[arm]]\nkind = \"files\"\n", "a",
                           {"run.virtual=false", "run.rounds=1", "run.requests=20"});
  ASSERT_TRUE(outcome) << mistakes_.text();
  EXPECT_EQ(outcome->failure, "");
  EXPECT_EQ(outcome->summary.rounds_complete, 1U);
  for (const report::ArmSummary& each : outcome->summary.arms) {
    EXPECT_EQ(each.request_count, 20U) << each.name;
    EXPECT_EQ(each.wrong_blocks, 0U);
    EXPECT_EQ(each.failed_count, 0U);
  }
  EXPECT_FALSE(fs::exists(base_ + "/a/stores"));
  EXPECT_TRUE(differences("a").empty());
}

}  // namespace
}  // namespace forebay::joint
