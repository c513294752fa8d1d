#include "report/folder.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "report/test_log.h"

namespace forebay::report {
namespace {

namespace fs = std::filesystem;

class Folder : public testing::Test {
 protected:
  void SetUp() override { fs::remove_all(path_); }
  void TearDown() override { fs::remove_all(path_); }
  // One folder a test, so that tests may run side by side.
  std::string path_ = testing::TempDir() + "folder_" +
                      testing::UnitTest::GetInstance()->current_test_info()->name();
};

RunFacts full_facts() {
  TestLog test;
  RunFacts facts = test.log.facts;
  facts.seed = 7;
  facts.scale = 16;
  facts.virtual_time = true;
  facts.partial = "stopped by a signal";
  facts.thresholds = {12.5, 0.07};
  facts.published = {{"before", "a vendor's claim", 37.97, std::nullopt, 0.98e9}};
  facts.assumptions = {{"prompt", "8192", "not published"}};
  facts.variants = {{"engine.tp", "4"}};
  facts.notes = {"a \"note\" with, commas"};
  return facts;
}

TEST_F(Folder, WhatIsWrittenIsReadBack) {
  TestLog test;
  test.log.facts = full_facts();
  test.cell(1, 0).device_read_bytes = 77;
  test.request(1, 0, 5, 10);
  test.request(0, 0, 6, 11);
  const auto folder = FolderWriter::create(path_);
  ASSERT_TRUE(folder);
  const auto names = test.log.facts.arm_names();
  ASSERT_TRUE(folder->append(std::span<const RequestRow>(test.log.requests), names));
  ASSERT_TRUE(folder->append(std::span<const CellRow>(test.log.cells), names));
  ASSERT_TRUE(folder->write(kFactsFile, facts_to_json(test.log.facts)));
  Diagnostics mistakes;
  const auto log = read_folder(path_, mistakes);
  ASSERT_TRUE(log) << mistakes.text();
  EXPECT_EQ(facts_to_json(log->facts), facts_to_json(test.log.facts));
  ASSERT_EQ(log->requests.size(), 2U);
  EXPECT_EQ(log->requests[0].arm, 1);
  EXPECT_EQ(log->requests[0].intended_ns, 5 * kMs);
  EXPECT_EQ(log->cells.at(0).device_read_bytes, 77);
  EXPECT_FALSE(fs::exists(path_ + "/run.json.new"));
}

TEST_F(Folder, AFolderThatHoldsAResultIsNotWrittenOver) {
  const auto folder = FolderWriter::create(path_);
  ASSERT_TRUE(folder);
  ASSERT_TRUE(folder->write(kFactsFile, "{}"));
  const auto again = FolderWriter::create(path_);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, Errc::kExists);
  const auto other = FolderWriter::create_free(path_);
  ASSERT_TRUE(other);
  EXPECT_EQ(other->path(), path_ + "-2");
  fs::remove_all(path_ + "-2");
}

TEST_F(Folder, IsMadeByOneRunOnly) {
  fs::create_directories(path_);
  const auto first = FolderWriter::create(path_);
  ASSERT_TRUE(first);
  ASSERT_TRUE(append_file(first->path_of(kRequestsFile), "a row\n"));
  const auto second = FolderWriter::create(path_);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Errc::kExists);
  EXPECT_TRUE(read_text(first->path_of(kRequestsFile))->ends_with("a row\n"));
}

TEST_F(Folder, AFolderThatCannotBeMadeIsAnError) {
  std::ofstream(path_) << "a file in the way";
  EXPECT_FALSE(FolderWriter::create(path_ + "/below"));
  EXPECT_FALSE(FolderWriter::create_free(path_ + "/below"));
}

TEST_F(Folder, AMissingLogIsNamed) {
  const auto folder = FolderWriter::create(path_);
  ASSERT_TRUE(folder);
  Diagnostics nothing_there;
  EXPECT_FALSE(read_folder(path_, nothing_there));
  EXPECT_NE(nothing_there.text().find("run.json: cannot be read"), std::string::npos);
  ASSERT_TRUE(folder->write(kFactsFile, facts_to_json(full_facts())));
  fs::remove(path_ + "/ops.csv");
  Diagnostics mistakes;
  EXPECT_FALSE(read_folder(path_, mistakes));
  EXPECT_NE(mistakes.text().find("ops.csv: is missing: "), std::string::npos);
}

TEST(Facts, WhatIsNotFactsIsRefusedWithAReason) {
  const auto reason = [](std::string_view text) {
    Diagnostics mistakes;
    EXPECT_FALSE(facts_from_json("run.json", text, mistakes));
    return mistakes.kept()[0].message;
  };
  EXPECT_NE(reason("{").find("cannot be read"), std::string::npos);
  EXPECT_NE(reason("[1]").find("cannot be read"), std::string::npos);
  EXPECT_EQ(reason("{\"format\": \"other\"}"), "is not the run.json of a result folder");
  EXPECT_EQ(reason("{\"format\": \"forebay-run\", \"version\": 99}"),
            "has version 99; this program reads 1");
  EXPECT_NE(reason("{\"format\": \"forebay-run\", \"version\": " + std::string(200'000, '[') +
                   std::string(200'000, ']') + "}"),
            "");
  EXPECT_NE(reason("{\"format\": \"forebay-run\", \"version\": 1, \"name\": 3}").find("string"),
            std::string::npos);
}

}  // namespace
}  // namespace forebay::report
