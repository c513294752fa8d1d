#include "report/line_changes.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace forebay::report {
namespace {

// Each letter is a line. "=5-2*3": changed at 5, then three removed that stood at 2.
std::string changes(std::string_view written, std::string_view now, std::size_t changes_max = 20) {
  const std::vector<std::uint32_t> a(written.begin(), written.end());
  const std::vector<std::uint32_t> b(now.begin(), now.end());
  std::string text;
  for (const LineChange& change : line_changes(a, b, changes_max)) {
    text += change.kind == LineChangeKind::kChanged   ? '='
            : change.kind == LineChangeKind::kRemoved ? '-'
                                                      : '+';
    text += std::to_string(change.at);
    if (change.count != 1) text += "*" + std::to_string(change.count);
  }
  return text;
}

TEST(LineChanges, OneChangeIsOneChange) {
  EXPECT_EQ(changes("abcdef", "abcdef"), "");
  EXPECT_EQ(changes("abcdef", "abXdef"), "=2");
  EXPECT_EQ(changes("abcdef", "abcdeX"), "=5");
  EXPECT_EQ(changes("abcdef", "abdef"), "-2");
  EXPECT_EQ(changes("abcdef", "aef"), "-1*3");
  EXPECT_EQ(changes("abcdef", "abcd"), "-4*2");
  EXPECT_EQ(changes("abcdef", "abXcdef"), "+2");
  EXPECT_EQ(changes("abcdef", "abcdefXY"), "+6*2");
  EXPECT_EQ(changes("abc", ""), "-0*3");
  EXPECT_EQ(changes("", "ab"), "+0*2");
}

TEST(LineChanges, SeveralStandInOrder) {
  EXPECT_EQ(changes("abcdefgh", "bcdXfg"), "-0=3-7");
  EXPECT_EQ(changes("abcdef", "XbcYdef"), "=0+3");
  EXPECT_EQ(changes("abcdef", "bacdef"), "-0+1");
}

// A line that was made equal to a later one is a change, not a removal of all in between.
TEST(LineChanges, EqualLinesAreFoundAgain) {
  EXPECT_EQ(changes("abcdecf", "accdecf"), "=1");
  EXPECT_EQ(changes("abcdecf", "acdecf"), "-1");
  EXPECT_EQ(changes("xaxbxcx", "xaxcx"), "-3*2");
}

TEST(LineChanges, StopAtTheBound) { EXPECT_EQ(changes("abcdef", "XbXdXf", 2), "=0=2"); }

}  // namespace
}  // namespace forebay::report
