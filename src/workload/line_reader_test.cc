#include "workload/line_reader.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <vector>

#include "workload/drip_source_testing.h"

namespace forebay::workload {
namespace {

std::vector<std::string> lines_of(const std::string& text, std::size_t step,
                                  std::uint64_t line_bytes_max = 1000) {
  LineReader reader(std::make_unique<DripSource>(text, step), line_bytes_max);
  std::vector<std::string> lines;
  Line line;
  while (reader.next(line).value_or(false)) {
    EXPECT_EQ(line.number, lines.size() + 1);
    lines.push_back(line.too_long ? "<too long>" : std::string(line.text));
  }
  return lines;
}

using Lines = std::vector<std::string>;

TEST(LineReader, EndsOfAllKindsAreTakenOff) {
  for (const std::size_t step : {1U, 2U, 3U, 100U}) {
    EXPECT_EQ(lines_of("a\nbc\r\n\nlast", step), (Lines{"a", "bc", "", "last"}));
    EXPECT_EQ(lines_of("a\n", step), (Lines{"a"}));
    EXPECT_EQ(lines_of("", step), Lines{});
    EXPECT_EQ(lines_of("\n\n", step), (Lines{"", ""}));
  }
}

TEST(LineReader, AByteOrderMarkIsNoPartOfTheFirstLine) {
  EXPECT_EQ(lines_of("\xef\xbb\xbfTIME\nx", 100), (Lines{"TIME", "x"}));
}

TEST(LineReader, ALineBeyondTheLimitIsMarkedAndTheNextIsRead) {
  const std::string text =
      "short\n" + std::string(200'000, 'x') + "\nafter\n" + std::string(11, 'y');
  EXPECT_EQ(lines_of(text, 7000, 10), (Lines{"short", "<too long>", "after", "<too long>"}));
  EXPECT_EQ(lines_of("1234567890\n", 3, 10), (Lines{"1234567890"}));
}

RC_GTEST_PROP(LineReader, CuttingTheInputAnywhereChangesNothing, ()) {
  const auto lines = *rc::gen::container<Lines>(
      rc::gen::container<std::string>(rc::gen::element('a', 'b', ' ', ',')));
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  RC_ASSERT(lines_of(text, *rc::gen::inRange<std::size_t>(1, 9)) == lines);
}

}  // namespace
}  // namespace forebay::workload
