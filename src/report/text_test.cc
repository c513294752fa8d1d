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

}  // namespace
}  // namespace forebay::report
