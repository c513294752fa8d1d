#include "config/table_reader.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace forebay::config {
namespace {

// A section of every type, with a list of sections below it.
struct Sample {
  std::string name = "absent";
  std::string kind = "a";
  std::uint64_t count = 1;
  std::uint64_t bytes = 2;
  double rate = 3;
  double number = 4;
  bool toggle = false;
  std::vector<std::string> texts;
  std::optional<double> maybe;
};
constexpr std::array<std::string_view, 2> kKinds{"a", "b"};

void visit(FieldVisitor& visitor, Sample& sample) {
  visitor.text({"name", "of it"}, sample.name);
  visitor.word({"kind", "a or b"}, sample.kind, kKinds);
  visitor.count({"count", "how many"}, sample.count, {1, 10});
  visitor.bytes({"bytes", "how large"}, sample.bytes, {});
  visitor.rate({"rate", "how fast"}, sample.rate, {});
  visitor.number({"number", "how much"}, sample.number, {0, 1});
  visitor.toggle({"toggle", "whether"}, sample.toggle);
  visitor.texts({"texts", "which"}, sample.texts);
  visitor.maybe({"maybe", "if known"}, sample.maybe);
}

struct Reading {
  Sample sample;
  Diagnostics mistakes;
  Places places{"x.toml"};

  explicit Reading(const std::string& text) {
    const auto root = parse_document("x.toml", text, mistakes);
    if (!root) return;
    Context context{mistakes, places};
    TableReader reader(*section(*root, "s", context), "s", "[s]", context);
    visit(reader, sample);
    reader.refuse_unknown();
  }
};

TEST(TableReader, TakesEachTypeAndKeepsWhatIsNotWritten) {
  const Reading all(
      "[s]\nname = 'n'\nkind = 'b'\ncount = 10\nbytes = '2KiB'\nrate = '1GB'\nnumber = 0.5\n"
      "toggle = true\ntexts = ['x', 2]\nmaybe = 7\n");
  EXPECT_TRUE(all.mistakes.empty()) << all.mistakes.text();
  EXPECT_EQ(all.sample.name, "n");
  EXPECT_EQ(all.sample.kind, "b");
  EXPECT_EQ(all.sample.count, 10U);
  EXPECT_EQ(all.sample.bytes, 2048U);
  EXPECT_EQ(all.sample.rate, 1e9);
  EXPECT_EQ(all.sample.number, 0.5);
  EXPECT_TRUE(all.sample.toggle);
  EXPECT_EQ(all.sample.texts, (std::vector<std::string>{"x", "2"}));
  EXPECT_EQ(all.sample.maybe, 7.0);
  EXPECT_EQ(all.places.of("s.count"), "x.toml:4");

  const Reading none("[s]\n");
  EXPECT_TRUE(none.mistakes.empty());
  EXPECT_EQ(none.sample.name, "absent");
  EXPECT_FALSE(none.sample.maybe.has_value());
  EXPECT_EQ(none.places.of("s.count"), "x.toml:1");  // its section
}

TEST(TableReader, NotesEveryMistakeAtItsLine) {
  const Reading bad(
      "[s]\nname = 1\nkind = 'c'\ncount = 11\nbytes = 'many'\nrate = []\nnumber = nan\n"
      "toggle = 1\ntexts = 'x'\nmaybe = true\nnaem = 1\n");
  ASSERT_EQ(bad.mistakes.count(), 10U) << bad.mistakes.text();
  for (std::size_t i = 0; i < 10; ++i) {
    EXPECT_EQ(bad.mistakes.kept()[i].place, "x.toml:" + std::to_string(i + 2));
  }
  EXPECT_EQ(bad.mistakes.kept()[9].hint, "did you mean `name`?");
  EXPECT_EQ(bad.sample.count, 1U);
}

TEST(TableReader, ASectionIsATable) {
  const Reading bad("s = 3\n");
  ASSERT_EQ(bad.mistakes.count(), 1U);
  EXPECT_EQ(bad.mistakes.kept()[0].message, "`s` is a whole number; it must be a section [s]");
}

TEST(ParseDocument, RefusesWhatIsNoTomlOrTooMuch) {
  for (const std::string& text :
       {std::string("[s\n"), std::string("[[[["), std::string(kDocumentBytesMax + 1, '#'),
        "x = " + std::string(40, '[')}) {
    Diagnostics mistakes;
    EXPECT_FALSE(parse_document("x.toml", text, mistakes));
    EXPECT_EQ(mistakes.count(), 1U);
  }
}

TEST(ForEachTable, ListsNestAndAreBounded) {
  Diagnostics mistakes;
  const auto root = parse_document(
      "x.toml", "[[outer]]\n[[outer.inner]]\nwrong = 1\n[[outer.inner]]\n[[outer.inner]]\n",
      mistakes);
  ASSERT_TRUE(root);
  Places places("x.toml");
  Context context{mistakes, places};
  int seen = 0;
  for_each_table(*root, "outer", 1, context, [&](TableReader& outer, const toml::table& table) {
    for_each_table(table, "inner", 2, context,
                   [&](TableReader& reader, const toml::table&) {
                     ++seen;
                     reader.refuse_unknown();
                   },
                   {outer.path(), "outer"});
  });
  EXPECT_EQ(seen, 2);
  EXPECT_EQ(places.of("outer.0.inner.1"), "x.toml:4");
  ASSERT_EQ(mistakes.count(), 2U);
  EXPECT_EQ(mistakes.kept()[0].message, "unknown key `wrong` in [[outer.inner]]");
  EXPECT_EQ(mistakes.kept()[1].message, "more than 2 [[outer.inner]] sections");
  EXPECT_EQ(mistakes.kept()[1].place, "x.toml:5");
}

}  // namespace
}  // namespace forebay::config
