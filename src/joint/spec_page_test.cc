// docs/formats/joint-spec.md: its tables are what the keys say, line by line.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "joint/spec.h"
#include "joint/spec_fields.h"

namespace forebay::joint {
namespace {

constexpr std::uint64_t kCountMax = CountRange{}.max;
constexpr double kNumberMax = NumberRange{}.max;

// Keys without which read_spec() refuses the section (SpecPage.RequiredKeysAreRefusedWhenAbsent).
const std::set<std::string> kRequired{"[[arm]].kind",         "[[published]].name",
                                      "[[published]].source", "[[assumption]].name",
                                      "[[sensitivity]].key",  "[[sensitivity]].values"};

std::string in_quotes(const std::string& text) { return text.empty() ? "" : "`\"" + text + "\"`"; }

// One table row a key: name, type, default, what is allowed, meaning.
class Rows final : public FieldVisitor {
 public:
  explicit Rows(std::string section) : section_(std::move(section)) {}
  void text(const Key& key, std::string& value) override { row(key, "text", in_quotes(value), ""); }
  void word(const Key& key, std::string& value,
            std::span<const std::string_view> allowed) override {
    std::string words;
    for (const auto word : allowed) words += fmt::format("{}`{}`", words.empty() ? "" : ", ", word);
    row(key, "word", in_quotes(value), words);
  }
  void count(const Key& key, std::uint64_t& value, CountRange range) override {
    row(key, "whole number", fmt::format("`{}`", value), counts(range));
  }
  void bytes(const Key& key, std::uint64_t& value, CountRange range) override {
    row(key, "size", fmt::format("`{}`", value), counts(range));
  }
  void rate(const Key& key, double& value, NumberRange range) override {
    row(key, "rate", fmt::format("`{}`", value), numbers(range));
  }
  void number(const Key& key, double& value, NumberRange range) override {
    row(key, "number", fmt::format("`{}`", value), numbers(range));
  }
  void toggle(const Key& key, bool& value) override {
    row(key, "true, false", fmt::format("`{}`", value), "");
  }
  void texts(const Key& key, std::vector<std::string>&) override { row(key, "list", "", ""); }
  void maybe(const Key& key, std::optional<double>&) override { row(key, "number", "", ""); }

  std::vector<std::string> lines;

 private:
  static std::string counts(CountRange range) {
    if (range.max != kCountMax) return fmt::format("{} to {}", range.min, range.max);
    return range.min == 0 ? "" : fmt::format("{} or more", range.min);
  }
  static std::string numbers(NumberRange range) {
    const std::string zero = range.or_zero ? "0, or " : "";
    if (range.max != kNumberMax) return fmt::format("{}{} to {}", zero, range.min, range.max);
    return range.min == 0 ? "" : fmt::format("{}{} or more", zero, range.min);
  }
  void row(const Key& key, std::string_view type, const std::string& value,
           const std::string& allowed) {
    const bool required = kRequired.contains(fmt::format("{}.{}", section_, key.name));
    lines.push_back(fmt::format("| `{}` | {} | {} | {} | {} |", key.name, type,
                                required ? "required" : value, allowed, key.help));
  }
  std::string section_;
};

// The rows of the tables under "## title", heads left out.
std::vector<std::string> rows_of(const std::string& page, const std::string& title) {
  std::vector<std::string> rows;
  std::size_t at = page.find("\n## " + title + "\n");
  if (at == std::string::npos) return rows;
  const std::size_t end = std::min(page.find("\n## ", at + 1), page.size());
  while ((at = page.find("\n| `", at)) < end) {
    const std::size_t line_end = page.find('\n', at + 1);
    rows.push_back(page.substr(at + 1, line_end - at - 1));
    at = line_end - 1;
  }
  return rows;
}

constexpr const char* kPage = FOREBAY_SOURCE_DIR "/docs/formats/joint-spec.md";

// FOREBAY_UPDATE_PAGES=1 writes the rows that the page has into it, in place of comparing.
void update_page(std::string page, const std::string& title,
                 const std::vector<std::string>& lines) {
  const std::size_t section = page.find("\n## " + title + "\n");
  for (const std::string& line : lines) {
    const std::string head = "\n" + line.substr(0, line.find('|', 2) + 1);
    const std::size_t at = page.find(head, section);
    if (at == std::string::npos) continue;
    page.replace(at + 1, page.find('\n', at + 1) - at - 1, line);
  }
  std::ofstream(kPage) << page;
}

std::string read_page() {
  std::ifstream file(kPage);
  return {std::istreambuf_iterator<char>(file), {}};
}

template <class Section>
void check(const std::string& title) {
  Rows rows(title);
  Section section;
  visit(rows, section);
  if (std::getenv("FOREBAY_UPDATE_PAGES") != nullptr) update_page(read_page(), title, rows.lines);
  std::string table = title + "\n";
  for (const std::string& line : rows.lines) table += line + "\n";
  EXPECT_EQ(rows_of(read_page(), title), rows.lines) << "FOREBAY_UPDATE_PAGES=1 writes it:\n"
                                                     << table;
}

TEST(SpecPage, TellsOfEachKeyTypeDefaultAndWhatIsAllowed) {
  check<RunSpec>("[run]");
  check<WorkloadSpec>("[workload]");
  check<EngineSpec>("[engine]");
  check<StorageSpec>("[storage]");
  check<ArmSpec>("[[arm]]");
  check<report::PublishedRow>("[[published]]");
  check<report::Assumption>("[[assumption]]");
  check<SensitivitySpec>("[[sensitivity]]");
}

// A small whole spec, one section a piece.
constexpr const char* kHead =
    "[workload]\nrequest_count = 10\n[engine]\nmodel = \"llama-3.1-8b\"\naccelerator = \"h100\"\n"
    "[storage]\nflash_bytes = \"1GiB\"\n[[arm]]\nkind = \"recompute\"\n[[arm]]\nkind = "
    "\"forebay\"\n";

std::string mistakes_of(const std::string& text) {
  Diagnostics mistakes;
  (void)read_spec({.file = "joint.toml", .text = text}, mistakes);
  return mistakes.text();
}

TEST(SpecPage, RequiredKeysAreRefusedWhenAbsent) {
  ASSERT_EQ(mistakes_of(kHead), "");
  const std::vector<std::pair<std::string, std::string>> all{
      {"[[arm]]", "name = \"third\"\n"},
      {"[[published]]", "source = \"who\"\nttft_s = 1.0\n"},
      {"[[published]]", "name = \"row\"\nttft_s = 1.0\n"},
      {"[[assumption]]", "value = \"1\"\nsource = \"why\"\n"},
      {"[[sensitivity]]", "values = [\"1\"]\n"},
      {"[[sensitivity]]", "key = \"engine.tp\"\n"}};
  EXPECT_EQ(all.size(), kRequired.size());
  for (const auto& [title, rest] : all) {
    EXPECT_NE(mistakes_of(kHead + title + "\n" + rest), "") << title << "\n" << rest;
  }
}

}  // namespace
}  // namespace forebay::joint
