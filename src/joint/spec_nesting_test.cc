// A specification that nests without end: a mistake, where the TOML library would end the process.
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "core/repeated_testing.h"
#include "joint/spec.h"

namespace forebay::joint {
namespace {

// The library frees tables by recursion: each of these ended the process before.
TEST(SpecNesting, ADeepSpecIsAMistakeWithItsLine) {
  const std::string dots = repeated("a.", 100'000) + "a";
  for (const std::string& text : {"[run]\n" + dots + " = 1\n", "[run]\n[" + dots + "]\n",
                                  "[run]\nx = " + repeated("[", 100'000) + "\n"}) {
    Diagnostics mistakes;
    EXPECT_FALSE(read_spec({"deep.toml", text, {}}, mistakes));
    ASSERT_EQ(mistakes.count(), 1U);
    EXPECT_EQ(mistakes.kept()[0].place, "deep.toml:2");
  }
}

TEST(SpecNesting, ADeepSetIsAMistake) {
  for (const std::string& set :
       {"run.name=" + repeated("[", 100'000), "run.name={" + repeated("a.", 100'000) + "a=1}"}) {
    Diagnostics mistakes;
    EXPECT_FALSE(read_spec({"set.toml", "[[arm]]\nkind = \"recompute\"\n", {set}}, mistakes));
    EXPECT_NE(mistakes.text().find("nested deeper"), std::string::npos) << mistakes.text();
  }
}

}  // namespace
}  // namespace forebay::joint
