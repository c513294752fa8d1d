#include "core/diagnostics.h"

#include <gtest/gtest.h>

#include <array>

namespace forebay {
namespace {

TEST(Diagnostics, ShowsEveryMistakeWithPlaceAndHint) {
  Diagnostics mistakes;
  mistakes.add_at("joint.toml", 12, "unknown key `blok_size`", "did you mean `block_size`?");
  mistakes.add("--rounds", "`x` is not a whole number");
  EXPECT_EQ(mistakes.text(),
            "joint.toml:12: unknown key `blok_size`\n"
            "  hint: did you mean `block_size`?\n"
            "--rounds: `x` is not a whole number\n");
}

TEST(Diagnostics, CountsAllButKeepsABoundedNumber) {
  Diagnostics mistakes;
  for (std::size_t i = 0; i < Diagnostics::kKeptMax + 5; ++i) mistakes.add("x", "y");
  EXPECT_EQ(mistakes.count(), Diagnostics::kKeptMax + 5);
  EXPECT_EQ(mistakes.kept().size(), Diagnostics::kKeptMax);
  EXPECT_TRUE(mistakes.text().ends_with("... and 5 more\n"));
}

TEST(NearestWord, FindsTheMisspeltAndRefusesTheFar) {
  constexpr std::array<std::string_view, 3> kWords{"block_size", "rounds", "seed"};
  EXPECT_EQ(nearest_word("blok_size", kWords), "block_size");
  EXPECT_EQ(nearest_word("round", kWords), "rounds");
  EXPECT_EQ(nearest_word("sede", kWords), "seed");  // two neighbours swapped: one slip
  EXPECT_EQ(nearest_word("ruonds", kWords), "rounds");
  EXPECT_EQ(nearest_word("esde", kWords), "");  // two swaps of four letters
  EXPECT_EQ(nearest_word("temperature", kWords), "");
  EXPECT_EQ(suggest("temperature", kWords), "one of: block_size, rounds, seed");
}

TEST(NearestWord, ABeginningIsMeantWhole) {
  constexpr std::array<std::string_view, 3> kWords{"qwen3-32b", "qwen3-30b-a3b-fp8",
                                                   "qwen3-30b-a3b"};
  EXPECT_EQ(nearest_word("qwen3-30b", kWords), "qwen3-30b-a3b");
  EXPECT_EQ(nearest_word("qwen3-31b", kWords), "qwen3-32b");
  EXPECT_EQ(nearest_word("qw", kWords), "");
}

}  // namespace
}  // namespace forebay
