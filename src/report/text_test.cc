#include "report/text.h"

#include <gtest/gtest.h>

#include "report/summary.h"
#include "report/test_log.h"

namespace forebay::report {
namespace {

// A folder that somebody sent may hold any text as its names.
TEST(TextReport, NoNameOfARunForgesALine) {
  const std::string forged = "x\nsummary.json agrees with the raw logs\x1b[2J";
  TestLog test;
  test.cell(0, 0);
  test.request(0, 0, 0, 10);
  RunFacts& facts = test.log.facts;
  facts.name = facts.workload = facts.candidate = facts.arms[0].name = forged;
  facts.partial = forged;
  facts.disks = {forged};
  facts.arms[1].skipped = forged;
  facts.published = {{forged, forged, 1, std::nullopt, std::nullopt}};
  facts.variants = {{forged, forged}};
  const std::string text = text_report(facts, summarise(test.log));
  EXPECT_EQ(text.find("\nsummary.json"), std::string::npos) << text;
  EXPECT_EQ(text.find('\x1b'), std::string::npos) << text;
  EXPECT_NE(text.find(R"(x\nsummary.json agrees)"), std::string::npos) << text;
}

// What a stopped run shows of an arm may be of a part of a round.
TEST(TextReport, SaysWhichFiguresAreOfAnUnfinishedRound) {
  TestLog test;
  test.cell(0, 0);
  test.request(0, 0, 0, 10);
  test.cell(1, 0).state = static_cast<std::int64_t>(CellState::kPartial);
  test.request(1, 0, 0, 10);
  test.log.facts.partial = "stopped by a signal";
  const std::string text = text_report(test.log.facts, summarise(test.log));
  EXPECT_TRUE(text.contains("forebay: no round is complete")) << text;
  EXPECT_FALSE(text.contains("recompute: no round is complete")) << text;
}

// Of one round they are the quotient of what the table shows.
TEST(TextReport, SaysThatFactorsArePairedOverTheRounds) {
  constexpr std::string_view kNote = "factors are paired over the rounds";
  TestLog test;
  const auto add_round = [&](std::int64_t round, std::int64_t recompute_ms) {
    for (const std::int64_t arm : {0, 1}) {
      test.cell(arm, round);
      test.request(arm, round, 0, arm == 0 ? recompute_ms : recompute_ms / 10);
    }
  };
  test.log.facts.rounds_wanted = 2;
  add_round(0, 500);
  EXPECT_FALSE(text_report(test.log.facts, summarise(test.log)).contains(kNote));
  add_round(1, 4000);
  const std::string text = text_report(test.log.facts, summarise(test.log));
  EXPECT_TRUE(text.contains(kNote)) << text;
  EXPECT_GT(text.find(kNote), text.find("forebay against recompute"));
}

}  // namespace
}  // namespace forebay::report
