#include "report/text_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

namespace forebay::report {
namespace {

namespace fs = std::filesystem;

class TextFile : public testing::Test {
 protected:
  void SetUp() override {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string folder_ = testing::TempDir() + "text_file_" +
                        testing::UnitTest::GetInstance()->current_test_info()->name();
  std::string path_ = folder_ + "/a";
};

TEST_F(TextFile, IsReadWholeOrUpToALimit) {
  const std::string text(3 << 20, 'x');
  ASSERT_TRUE(replace_file(path_, text));
  EXPECT_EQ(read_text(path_).value_or(""), text);
  EXPECT_EQ(read_text_up_to(path_, text.size()).value_or(""), text);
  EXPECT_EQ(read_text_up_to(path_, 10).value_or("").size(), 11U);
}

// Without a bound of its own, reading it would not end.
TEST_F(TextFile, ADeviceWithoutAnEndIsReadUpToTheLimit) {
  EXPECT_EQ(read_text_up_to("/dev/zero", 100'000).value_or("").size(), 100'001U);
}

TEST_F(TextFile, APipeOrADeviceIsRefusedUnopened) {
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  for (const std::string& path : {path_, std::string("/dev/zero"), folder_}) {
    const auto text = read_text(path);
    ASSERT_FALSE(text) << path;
    EXPECT_EQ(text.error().code, Errc::kInvalid) << path;
  }
  EXPECT_EQ(read_text(folder_ + "/absent").error().code, Errc::kNotFound);
}

TEST_F(TextFile, IsBegunOnce) {
  ASSERT_TRUE(begin_file(path_, "one\n"));
  EXPECT_EQ(begin_file(path_, "two\n").error().code, Errc::kExists);
  ASSERT_TRUE(append_file(path_, "three\n"));
  EXPECT_EQ(read_text(path_).value_or(""), "one\nthree\n");
}

// A folder of that name: the rename fails, with its reason.
TEST_F(TextFile, AFailedReplacementLeavesNothingBesideAndTellsWhy) {
  fs::create_directories(path_);
  const Status replaced = replace_file(path_, "x");
  ASSERT_FALSE(replaced);
  EXPECT_EQ(replaced.error().os, EISDIR);
  EXPECT_FALSE(fs::exists(path_ + ".new"));
}

}  // namespace
}  // namespace forebay::report
