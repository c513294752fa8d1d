#include "config/toml_nesting.h"

#include <gtest/gtest.h>

#include <string>

#include "core/repeated_testing.h"

namespace forebay::config {
namespace {

TEST(TomlNesting, DotsAndBracketsCountUpToTheLimit) {
  for (const std::string& open : {std::string("["), std::string("{a=")}) {
    EXPECT_EQ(line_nested_too_deep("x = " + repeated(open, 32)), 0U) << open;
    EXPECT_EQ(line_nested_too_deep("\nx = " + repeated(open, 33)), 2U) << open;
  }
  EXPECT_EQ(line_nested_too_deep("[" + repeated("a.", 32) + "a]"), 0U);
  EXPECT_EQ(line_nested_too_deep("[" + repeated("a.", 33) + "a]"), 1U);
  EXPECT_EQ(line_nested_too_deep("\n\n" + repeated("a.", 33) + "a = 1"), 3U);
  EXPECT_EQ(line_nested_too_deep(repeated("\"a\" . ", 33) + "a = 1"), 1U);
}

TEST(TomlNesting, WhatFollowsDoesNotAddUp) {
  EXPECT_EQ(line_nested_too_deep(repeated("[[arm]]\nx = [1.5, 2.5]\na.b = {c = 1}\n", 100)), 0U);
  EXPECT_EQ(line_nested_too_deep("x = [" + repeated("1.5,", 100) + "]"), 0U);
}

TEST(TomlNesting, StringsAndCommentsHoldNoLevels) {
  const std::string deep = repeated("[", 40) + repeated("a.", 40);
  EXPECT_EQ(line_nested_too_deep("x = \"" + deep + "\""), 0U);
  EXPECT_EQ(line_nested_too_deep("x = '" + deep + "'"), 0U);
  EXPECT_EQ(line_nested_too_deep("x = \"\"\"\n\"" + deep + "\n\"\"\""), 0U);
  EXPECT_EQ(line_nested_too_deep("x = '''\n'" + deep + "\n'''"), 0U);
  EXPECT_EQ(line_nested_too_deep("# " + deep), 0U);
  EXPECT_EQ(line_nested_too_deep("x = \"\\\"" + deep + "\""), 0U);
}

// Where a string ends decides whether what follows is seen: TOML 1.0, "String".
TEST(TomlNesting, LevelsBehindAStringAreSeen) {
  const std::string deep = repeated("[", 40);
  for (const std::string_view string :
       {R"("\\")", R"('\')", R"("""a"""")", R"("""a""""")", "''''a'''''", "\"\"\"\n\\\"\"\"\"",
        R"("")", "''", R"("""""")", "\"\\\"", "\"# not a comment\""}) {
    EXPECT_NE(line_nested_too_deep("x = [" + std::string(string) + ",\n" + deep), 0U) << string;
  }
}

}  // namespace
}  // namespace forebay::config
