#include "report/sums.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <array>

namespace forebay::report {
namespace {

constexpr std::array<std::string_view, 3> kFiles{"a.csv", "b.csv", "c.json"};
// SHA-256 of "abc" (FIPS 180-2, B.1), of "" and of "a\n" (coreutils' sha256sum).
constexpr const char* kOfAbc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
constexpr const char* kOfNothing =
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
constexpr const char* kOfALine = "87428fc522803d31065e7bce3cf03fe475096631e5e07bbd7a0fde60c4cf25c7";

std::string line(std::string_view sum, std::string_view file) {
  return fmt::format("{}  {}\n", sum, file);
}
const std::string kHonest =
    line(kOfAbc, "a.csv") + line(kOfNothing, "b.csv") + line(kOfALine, "c.json");

std::vector<std::string> strange(std::string_view text) { return Sums(text, kFiles).strange(); }
using Lines = std::vector<std::string>;

TEST(Sums, HoldWhatSha256sumSays) {
  const Sums sums(kHonest, kFiles);
  EXPECT_TRUE(sums.strange().empty());
  EXPECT_TRUE(sums.hold("a.csv", "abc"));
  EXPECT_FALSE(sums.hold("a.csv", "abd"));
  EXPECT_TRUE(sums.hold("b.csv", ""));
  EXPECT_FALSE(sums.hold("elsewhere", "abc"));
  EXPECT_EQ(sum_line("a.csv", "abc"), line(kOfAbc, "a.csv"));
}

TEST(Sums, ALostLastNewlineIsNamedAndTheLineRead) {
  const std::string cut = kHonest.substr(0, kHonest.size() - 1);
  EXPECT_EQ(strange(cut), Lines{"SHA256SUMS: the newline behind its last line is missing"});
  EXPECT_TRUE(Sums(cut, kFiles).hold("c.json", "a\n"));
}

TEST(Sums, MovedLinesAreNamedOnceAndRead) {
  const std::string moved =
      line(kOfNothing, "b.csv") + line(kOfAbc, "a.csv") + line(kOfALine, "c.json");
  EXPECT_EQ(strange(moved),
            Lines{"SHA256SUMS:1: is the line of b.csv, where a run writes that of a.csv: lines "
                  "were moved"});
  EXPECT_TRUE(Sums(moved, kFiles).hold("a.csv", "abc"));
}

TEST(Sums, ConvertedLineEndsAreNamedOnceAndRead) {
  std::string converted;
  for (const char letter : kHonest) converted += letter == '\n' ? "\r\n" : std::string(1, letter);
  EXPECT_EQ(strange(converted), Lines{"SHA256SUMS: 3 of its 3 lines end in CR LF: it was converted "
                                      "after the run; copy it as it is"});
  EXPECT_TRUE(Sums(converted, kFiles).hold("a.csv", "abc"));
}

TEST(Sums, ASecondLineOfAFileIsNamedAndTheFirstCounts) {
  EXPECT_EQ(strange(kHonest + line(kOfAbc, "a.csv")),
            Lines{"SHA256SUMS:4: is a second line of a.csv, with the same sum; line 1 counts"});
  const std::string other = kHonest + line(kOfNothing, "a.csv");
  EXPECT_EQ(strange(other),
            Lines{"SHA256SUMS:4: is a second line of a.csv, with another sum; line 1 counts"});
  EXPECT_TRUE(Sums(other, kFiles).hold("a.csv", "abc"));
}

TEST(Sums, LinesThatAreMissingOrOfNoRunAreNamed) {
  EXPECT_EQ(strange(line(kOfNothing, "b.csv")), Lines{"SHA256SUMS: has no line of a.csv, c.json"});
  EXPECT_EQ(strange(""), Lines{"SHA256SUMS: has no line of any file"});
  EXPECT_EQ(strange(kHonest + line(kOfAbc, "d.txt")).size(), 1U);
  EXPECT_EQ(strange(kHonest + "all is well"),
            (Lines{"SHA256SUMS:4: is not a line that a run writes: `all is well`",
                   "SHA256SUMS: the newline behind its last line is missing"}));
}

TEST(Sums, TellTextsThatDifferInTheirLineEndsAlone) {
  const Sums sums(kHonest, kFiles);
  EXPECT_EQ(sums.line_ends("c.json", "a\r\n"), LineEnds::kConverted);
  EXPECT_EQ(sums.line_ends("c.json", "a"), LineEnds::kLastNewlineLost);
  EXPECT_EQ(sums.line_ends("c.json", "b\r\n"), LineEnds::kOther);
  EXPECT_EQ(sums.line_ends("a.csv", "ab"), LineEnds::kOther);
}

}  // namespace
}  // namespace forebay::report
