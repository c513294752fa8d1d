#include "report/column.h"

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <fstream>
#include <iterator>

#include "report/rows.h"

namespace forebay::report {
namespace {

struct Small {
  std::int64_t arm = 0;
  std::int64_t bytes = 0;
  std::int64_t state = 0;
  friend bool operator==(const Small&, const Small&) = default;
};
constexpr std::array kColumns{Column<Small>{"arm", "", &Small::arm, Words::kArm},
                              Column<Small>{"bytes", "", &Small::bytes},
                              Column<Small>{"state", "", &Small::state, Words::kRequestState}};
constexpr std::array<std::string_view, 2> kArms{"recompute", "forebay"};

std::vector<Small> parse(std::string_view text, Diagnostics& mistakes) {
  return parse_csv("x.csv", text, std::span<const Column<Small>>(kColumns), kArms, mistakes);
}

std::string first_mistake(std::string_view text) {
  Diagnostics mistakes;
  (void)parse(text, mistakes);
  return mistakes.empty() ? "" : mistakes.kept()[0].place + ": " + mistakes.kept()[0].message;
}

TEST(Column, WordsAndNumbersAreWrittenAsPeopleReadThem) {
  const std::vector<Small> rows{{1, -7, 0}, {0, 9'000'000'000, 2}};
  EXPECT_EQ(csv_header(std::span<const Column<Small>>(kColumns)), "arm,bytes,state\n");
  EXPECT_EQ(csv_rows(std::span<const Column<Small>>(kColumns), std::span<const Small>(rows), kArms),
            "forebay,-7,done\nrecompute,9000000000,unfinished\n");
}

TEST(Column, WrongRowsAreNamedByLineAndLeftOut) {
  Diagnostics mistakes;
  const auto rows = parse(
      "arm,bytes,state\nforebay,1,done\nforebay,x,done\nnobody,1,done\nforebay,1\n"
      "forebay,1,done,2\nrecompute,5,failed\n",
      mistakes);
  EXPECT_EQ(rows, (std::vector<Small>{{1, 1, 0}, {0, 5, 1}}));
  ASSERT_EQ(mistakes.count(), 4U);
  EXPECT_EQ(mistakes.kept()[0].place, "x.csv:3");
  EXPECT_EQ(mistakes.kept()[0].message, "column `bytes` holds `x`");
  EXPECT_EQ(mistakes.kept()[1].message, "column `arm` holds `nobody`");
  EXPECT_EQ(mistakes.kept()[2].message, "column `state` is missing");
  EXPECT_EQ(mistakes.kept()[3].message, "more cells than columns");
}

TEST(Column, AnotherVersionsHeaderIsRefusedAsAWhole) {
  EXPECT_EQ(first_mistake("arm,bytes\nforebay,1\n"),
            "x.csv:1: the header is not that of this version");
  EXPECT_EQ(first_mistake(""), "x.csv:1: the header is not that of this version");
}

TEST(Column, ALineThatAKillToreIsPassedOver) {
  Diagnostics mistakes;
  EXPECT_EQ(parse("arm,bytes,state\nforebay,1,done\nforebay,12", mistakes).size(), 1U);
  EXPECT_TRUE(mistakes.empty());
}

// checks.h names the conversion; the figures are there to be shown.
TEST(Column, ALogWithConvertedLineEndsIsRead) {
  Diagnostics mistakes;
  EXPECT_EQ(parse("arm,bytes,state\r\nforebay,1,done\r\n", mistakes),
            std::vector<Small>{(Small{1, 1, 0})});
  EXPECT_TRUE(mistakes.empty()) << mistakes.text();
  EXPECT_EQ(first_mistake("arm,bytes,state\nforebay,1,done\r\r\n"),
            "x.csv:2: column `state` holds `done\r`");
}

RC_GTEST_PROP(Column, RequestsSurviveTheWayThroughText, ()) {
  const auto values = *rc::gen::container<std::vector<std::int64_t>>(
      request_columns().size(), rc::gen::inRange(-kValueMax, kValueMax + 1));
  RequestRow row;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto& column = request_columns()[i];
    const auto words = words_of(column.words, kArms);
    row.*column.field = words.empty() ? values[i] : std::abs(values[i] % 2);
  }
  const std::string text = csv_header(request_columns()) +
                           csv_rows(request_columns(), std::span<const RequestRow>(&row, 1), kArms);
  Diagnostics mistakes;
  const std::vector<RequestRow> rows = parse_csv("x", text, request_columns(), kArms, mistakes);
  RC_ASSERT(rows.size() == 1);
  for (const auto& column : request_columns()) {
    const std::int64_t back = rows[0].*column.field;
    RC_ASSERT(back == row.*column.field);
  }
}

template <class Row>
void expect_documented(const std::string& page, std::string_view title,
                       std::span<const Column<Row>> columns) {
  const std::size_t section = page.find(fmt::format("## {}\n", title));
  ASSERT_NE(section, std::string::npos) << title;
  for (const auto& column : columns) {
    EXPECT_NE(page.find(fmt::format("| `{}` | {} |", column.name, column.help), section),
              std::string::npos)
        << title << ": " << column.name;
  }
}

TEST(Column, EveryColumnHasItsLineInTheDocument) {
  std::ifstream file(FOREBAY_SOURCE_DIR "/docs/results-columns.md");
  const std::string page{std::istreambuf_iterator<char>(file), {}};
  expect_documented(page, "requests.csv", request_columns());
  expect_documented(page, "cells.csv", cell_columns());
  expect_documented(page, "late-requests.csv and late-cells.csv", late_cell_columns().first(1));
  expect_documented(page, "late-requests.csv and late-cells.csv", late_request_columns().first(1));
  expect_documented(page, "ops.csv", op_columns());
  expect_documented(page, "traffic.csv", traffic_columns());
}

}  // namespace
}  // namespace forebay::report
