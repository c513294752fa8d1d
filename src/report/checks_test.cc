#include "report/checks.h"

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <span>

#include "core/crc32c.h"

namespace forebay::report {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kTable = "a,b,c\n1,2,3\n4,5,6\n";

TEST(Checks, AreCrc32cOfLinesAndColumns) {
  // CRC-32C of "123456789" is e3069283 (RFC 3720, B.4).
  EXPECT_EQ(checks_of("x.toml", "123456789\n").lines, std::vector<std::uint32_t>{0xe3069283});
  EXPECT_TRUE(checks_of("x.toml", "a,b\n").columns.empty());
  const FileChecks checks = checks_of("x.csv", kTable);
  ASSERT_EQ(checks.columns.size(), 3U);
  EXPECT_EQ(checks.columns[1].first, "b");
  // A column is its cells, each with a newline behind it.
  EXPECT_EQ(checks.columns[1].second,
            crc32c(std::as_bytes(std::span(std::string_view("b\n2\n5\n")))));
}

TEST(Checks, AreReadBackAsTheyWereWritten) {
  const std::vector<FileChecks> written{checks_of("x.csv", kTable), checks_of("y.json", "{\n}\n")};
  const auto read = checks_from_json(checks_to_json(written));
  ASSERT_TRUE(read);
  ASSERT_EQ(read->size(), 2U);
  EXPECT_EQ((*read)[0].lines, written[0].lines);
  EXPECT_EQ((*read)[0].columns, written[0].columns);
  EXPECT_EQ((*read)[1].file, "y.json");
}

TEST(Checks, WhatIsNoChecksFileIsRefused) {
  const auto read = [](std::string_view version, std::string_view file) {
    return checks_from_json(
        fmt::format(R"({{"format":"forebay-checks","version":{},"files":[{}]}})", version, file));
  };
  EXPECT_TRUE(read("1", R"({"file":"x","columns":{},"lines":"00000000"})"));
  EXPECT_FALSE(read("2", ""));
  EXPECT_FALSE(read("1", R"({"file":"x","columns":{},"lines":"0"})"));
  EXPECT_FALSE(read("1", R"({"file":"x","columns":{"a":1},"lines":""})"));
  EXPECT_FALSE(read("1", R"({"columns":{},"lines":""})"));
  for (const char* text : {"", "[]", "{", "{}"}) EXPECT_FALSE(checks_from_json(text)) << text;
}

TEST(Checks, OneChangedFigureIsNamedByLineAndColumn) {
  const FileChecks written = checks_of("x.csv", kTable);
  EXPECT_TRUE(changes_of(written, kTable).empty());
  EXPECT_EQ(
      changes_of(written, "a,b,c\n1,2,3\n4,7,6\n"),
      std::vector<std::string>{"x.csv:3: column `b` was changed after the run: it holds `7`"});
  EXPECT_EQ(changes_of(written, "a,b,c\n1,3,2\n4,5,6\n"),
            std::vector<std::string>{
                "x.csv:2: columns `b`, `c` were changed after the run: it holds `3`, `2`"});
  EXPECT_EQ(changes_of(written, "a,b,c\n1,2,3\n"),
            std::vector<std::string>{"x.csv:3: the row that was written here is missing"});
  EXPECT_EQ(changes_of(checks_of("y.json", "{\n  \"n\": 1\n}\n"), "{\n  \"n\": 2\n}\n"),
            std::vector<std::string>{"y.json:2: was changed after the run: `\"n\": 2`"});
}

// One row gone is one line, not one for each row behind it.
TEST(Checks, ARemovedOrAddedRowIsNamedAlone) {
  const FileChecks written = checks_of("x.csv", "a,b\n1,2\n3,4\n5,6\n7,8\n");
  EXPECT_EQ(changes_of(written, "a,b\n3,4\n5,6\n7,8\n"),
            std::vector<std::string>{"x.csv:2: the row that was written here is missing"});
  EXPECT_EQ(
      changes_of(written, "a,b\n1,2\n7,8\n"),
      std::vector<std::string>{"x.csv:3: the 2 rows that were written from here on are missing"});
  EXPECT_EQ(changes_of(written, "a,b\n1,2\n3,4\n9,9\n5,6\n7,8\n"),
            std::vector<std::string>{"x.csv:4: row was added after the run: `9,9`"});
  EXPECT_EQ(changes_of(checks_of("y.json", "1\n2\n"), "1\n2\n3\n4\n"),
            std::vector<std::string>{"y.json:3: 2 lines were added after the run: `3`"});
}

class SealedFolder : public testing::Test {
 protected:
  void SetUp() override {
    fs::remove_all(path_);
    const auto folder = FolderWriter::create(path_);
    ASSERT_TRUE(folder);
    for (const auto file : {kSpecFile, kFactsFile, kEnvironmentFile, kSummaryFile, kHtmlFile}) {
      ASSERT_TRUE(folder->write(file, "one = 1\ntwo = 2\n"));
    }
    ASSERT_TRUE(seal_folder(*folder));
  }
  void TearDown() override { fs::remove_all(path_); }
  void replace(std::string_view file, std::string_view what, std::string_view by) {
    std::string text = read_text(path_ + "/" + std::string(file)).value_or("");
    const std::size_t at = text.find(what);
    ASSERT_NE(at, std::string::npos);
    text.replace(at, what.size(), by);
    std::ofstream(path_ + "/" + std::string(file), std::ios::binary) << text;
  }
  std::string path_ = testing::TempDir() + "sealed_" +
                      testing::UnitTest::GetInstance()->current_test_info()->name();
};

TEST_F(SealedFolder, AsItWasLeftHasNoChanges) { EXPECT_TRUE(check_folder(path_).empty()); }

TEST_F(SealedFolder, AnEditOfAnyFileIsNamed) {
  for (const auto file : {kSpecFile, kFactsFile, kEnvironmentFile, kSummaryFile, kHtmlFile}) {
    replace(file, "two = 2", "two = 3");
    const auto changes = check_folder(path_);
    ASSERT_EQ(changes.size(), 1U) << file;
    EXPECT_EQ(changes[0], std::string(file) + ":2: was changed after the run: `two = 3`");
    replace(file, "two = 3", "two = 2");
  }
}

TEST_F(SealedFolder, AMissingFileIsNamed) {
  for (const auto file : {kSpecFile, kOpsFile, kHtmlFile, kChecksFile, kSumsFile}) {
    const std::string path = path_ + "/" + std::string(file);
    fs::rename(path, path_ + "/away");
    const auto changes = check_folder(path_);
    ASSERT_EQ(changes.size(), 1U) << file;
    EXPECT_TRUE(changes[0].starts_with(std::string(file) + ": is missing")) << changes[0];
    fs::rename(path_ + "/away", path);
  }
}

TEST_F(SealedFolder, AnEditOfTheChecksThemselvesIsNamed) {
  replace(kChecksFile, "\"lines\": \"", "\"lines\": \"00000000");
  ASSERT_EQ(check_folder(path_).size(), 1U);
  EXPECT_EQ(check_folder(path_)[0],
            "checks.json: was changed after the run, or its line in SHA256SUMS was");
  replace(kChecksFile, "\"lines\": \"00000000", "\"lines\": \"");
  replace(kSumsFile, "  spec.toml", "0  spec.toml");
  ASSERT_EQ(check_folder(path_).size(), 1U);
  EXPECT_TRUE(check_folder(path_)[0].starts_with("SHA256SUMS: the sum of spec.toml"));
}

TEST_F(SealedFolder, ALineOfTheSumsThatNoRunWroteIsNamed) {
  const std::string honest = read_text(path_ + "/SHA256SUMS").value_or("");
  const auto changes_with = [&](const std::string& line) {
    std::ofstream(path_ + "/SHA256SUMS", std::ios::binary) << honest << line;
    return check_folder(path_);
  };
  EXPECT_EQ(
      changes_with("all is well\n"),
      std::vector<std::string>{"SHA256SUMS:13: is not a line that a run writes: `all is well`"});
  EXPECT_EQ(changes_with(std::string(64, '0') + "  other.txt\n").size(), 1U);
  const std::string first = honest.substr(0, honest.find('\n') + 1);
  ASSERT_EQ(changes_with(first).size(), 1U);
  EXPECT_TRUE(changes_with(first)[0].starts_with("SHA256SUMS:13: is a second line of spec.toml"));
}

// Whatever became of SHA256SUMS, its reader still holds the files against what it says.
TEST_F(SealedFolder, ChangedSumsAreOneLineAndHideNoOtherChange) {
  const std::string honest = read_text(path_ + "/SHA256SUMS").value_or("");
  const std::size_t second = honest.find('\n') + 1;
  const std::size_t third = honest.find('\n', second) + 1;
  const auto changes_with = [&](const std::string& sums) {
    std::ofstream(path_ + "/SHA256SUMS", std::ios::binary) << sums;
    return check_folder(path_);
  };
  const std::string unended = honest.substr(0, honest.size() - 1);
  const std::string moved =
      honest.substr(second, third - second) + honest.substr(0, second) + honest.substr(third);
  const std::string shorter = honest.substr(second);
  for (const std::string& sums : {unended, moved, shorter}) {
    EXPECT_EQ(changes_with(sums).size(), 1U);
    replace(kHtmlFile, "two = 2", "two = 3");
    const auto changes = check_folder(path_);
    ASSERT_EQ(changes.size(), 2U);
    EXPECT_EQ(changes[1], "report.html:2: was changed after the run: `two = 3`");
    replace(kHtmlFile, "two = 3", "two = 2");
  }
}

TEST_F(SealedFolder, AConvertedFileIsOneLine) {
  replace(kSpecFile, "one = 1\ntwo = 2\n", "one = 1\r\ntwo = 2\r\n");
  EXPECT_EQ(check_folder(path_),
            std::vector<std::string>{"spec.toml: its lines end in CR LF and are else as they were: "
                                     "it was converted after the run; copy it as it is"});
  replace(kSpecFile, "one = 1\r\ntwo = 2\r\n", "one = 1\ntwo = 2");
  EXPECT_EQ(check_folder(path_),
            std::vector<std::string>{"spec.toml: the newline behind its last line is missing"});
}

TEST_F(SealedFolder, ALinkIsNamedThoughItsBytesAreEqual) {
  const std::string away = path_ + "_away";
  fs::rename(path_ + "/ops.csv", away);
  fs::create_symlink(away, path_ + "/ops.csv");
  ASSERT_EQ(check_folder(path_).size(), 1U);
  EXPECT_TRUE(check_folder(path_)[0].starts_with("ops.csv: is a symbolic link to `" + away + "`: "))
      << check_folder(path_)[0];
  fs::remove(away);
  ASSERT_EQ(check_folder(path_).size(), 1U);
  EXPECT_TRUE(check_folder(path_)[0].contains("`, which cannot be read: "));
}

TEST_F(SealedFolder, APipeInPlaceOfAFileIsNamedAndNotWaitedFor) {
  fs::remove(path_ + "/ops.csv");
  ASSERT_EQ(::mkfifo((path_ + "/ops.csv").c_str(), 0600), 0);
  EXPECT_EQ(
      check_folder(path_),
      std::vector<std::string>{"ops.csv: cannot be read: open: is no regular file (invalid)"});
}

}  // namespace
}  // namespace forebay::report
