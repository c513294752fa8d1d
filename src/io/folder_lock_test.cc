#include "io/folder_lock.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace forebay::io {
namespace {

class FolderLockTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_NE(::mkdtemp(path_.data()), nullptr); }
  void TearDown() override { std::filesystem::remove_all(path_); }
  std::string path_ = testing::TempDir() + "folder_lock.XXXXXX";
};

TEST_F(FolderLockTest, OneHoldsItAtATime) {
  auto first = FolderLock::take(path_);
  ASSERT_TRUE(first && *first);
  // Another open of the same folder, by another way to it.
  EXPECT_EQ(FolderLock::take(path_ + "/.").error().code, Errc::kExists);
  EXPECT_EQ(FolderLock::holder(path_), getpid());
  {
    const FolderLock moved = std::move(**first);
    EXPECT_EQ(FolderLock::take(path_).error().code, Errc::kExists);
  }
  EXPECT_TRUE(FolderLock::take(path_));
  EXPECT_TRUE(std::filesystem::is_empty(path_));
}

TEST_F(FolderLockTest, WhatIsNoFolderIsTheErrorOfTheSystem) {
  EXPECT_EQ(FolderLock::take(path_ + "/none").error().code, Errc::kNotFound);
}

}  // namespace
}  // namespace forebay::io
