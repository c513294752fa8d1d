#include "report/folder_names.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <fstream>

namespace forebay::report {
namespace {

namespace fs = std::filesystem;

class FolderNames : public testing::Test {
 protected:
  void SetUp() override {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  void put(std::string_view name) const {
    std::ofstream(fmt::format("{}/{}", folder_, name)) << "x";
  }
  std::string folder_ = testing::TempDir() + "folder_names_" +
                        testing::UnitTest::GetInstance()->current_test_info()->name();
};

constexpr std::array<std::string_view, 2> kOwn{"own.csv", "gone.csv"};

TEST_F(FolderNames, AreAllButItsOwnInOrder) {
  for (const auto* name : {"own.csv", "z.txt", ".hidden"}) put(name);
  fs::create_directory(folder_ + "/plots");
  const auto found = foreign_names(folder_, kOwn);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->names, (std::vector<std::string>{".hidden", "plots/", "z.txt"}));
  EXPECT_EQ(found->count, 3U);
}

TEST_F(FolderNames, OfManyTheFirstAreKeptAndAllCounted) {
  for (int i = 0; i < 30; ++i) put(fmt::format("n{:02}", i));
  const auto found = foreign_names(folder_, kOwn);
  ASSERT_TRUE(found);
  ASSERT_EQ(found->names.size(), kForeignNamesMax);
  EXPECT_EQ(found->names.back(), "n19");
  EXPECT_EQ(found->count, 30U);
}

TEST_F(FolderNames, WhatCannotBeListedIsAnError) {
  const auto found = foreign_names(folder_ + "/none", kOwn);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, Errc::kNotFound);
}

TEST_F(FolderNames, ALinkHasATargetAndAFileHasNone) {
  put("own.csv");
  fs::create_symlink("own.csv", folder_ + "/link");
  EXPECT_EQ(link_target(folder_ + "/link").value_or(""), "own.csv");
  EXPECT_FALSE(link_target(folder_ + "/own.csv"));
  EXPECT_FALSE(link_target(folder_ + "/none"));
}

}  // namespace
}  // namespace forebay::report
