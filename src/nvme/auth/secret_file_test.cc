// A key file is read when it is its owner's alone, and what is wrong with it is named.
#include "nvme/auth/secret_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdio>
#include <fstream>

#include "nvme/auth/auth_testing.h"

namespace forebay::nvme::auth {
namespace {

class SecretFile : public testing::Test {
 protected:
  ~SecretFile() override { (void)std::remove(path_.c_str()); }
  void write(std::string_view text, mode_t mode) {
    std::ofstream(path_) << text;
    ASSERT_EQ(chmod(path_.c_str(), mode), 0);
  }
  std::string path_ = testing::TempDir() + "forebay_secret_file_test.key";
};

TEST_F(SecretFile, OfItsOwnerAloneIsRead) {
  for (const mode_t mode : {mode_t{0600}, mode_t{0400}}) {
    write(std::string(kHostSecret) + "\n", mode);
    const auto secret = read_secret_file(path_);
    ASSERT_TRUE(secret) << to_string(secret.error());
    EXPECT_EQ(secret->text(), kHostSecret);
    (void)std::remove(path_.c_str());
  }
}

TEST_F(SecretFile, ThatOthersMayReadIsRefused) {
  for (const mode_t mode : {mode_t{0644}, mode_t{0640}, mode_t{0604}, mode_t{0620}}) {
    write(kHostSecret, mode);
    const auto secret = read_secret_file(path_);
    ASSERT_FALSE(secret);
    EXPECT_EQ(secret.error().code, Errc::kDenied);
    EXPECT_NE(secret_hint(secret.error()).find("chmod 600"), std::string_view::npos);
  }
}

TEST_F(SecretFile, WhatIsWrongIsNamedAndTheSecretIsNot) {
  const auto missing = read_secret_file(path_);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, Errc::kNotFound);
  std::string spoiled(kHostSecret);
  spoiled[20] = '+';
  write(spoiled, 0600);
  const auto corrupt = read_secret_file(path_);
  ASSERT_FALSE(corrupt);
  EXPECT_EQ(corrupt.error().code, Errc::kCorrupt);
  EXPECT_EQ(to_string(corrupt.error()).find("AAEC"), std::string::npos);
  write(std::string(1000, 'A'), 0600);
  const auto longer = read_secret_file(path_);
  ASSERT_FALSE(longer);
  EXPECT_EQ(longer.error().code, Errc::kInvalid);
}

}  // namespace
}  // namespace forebay::nvme::auth
