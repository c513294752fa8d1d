// A secret's line is read strictly, and gives the keys that another implementation derives.
#include "nvme/auth/secret.h"

#include <gtest/gtest.h>

#include "core/hash.h"
#include "nvme/auth/auth_testing.h"

namespace forebay::nvme::auth {
namespace {

// The literals are what tests/interop/nvme_auth.py prints.
TEST(AuthSecret, GivesTheKeyOfItsParty) {
  const std::string body = std::string(kHostSecret).substr(10);
  const auto key = [&body](char transform) {
    const Secret secret = secret_of(std::string("DHHC-1:0") + transform + ":" + body);
    return to_hex(secret.key_of(kParties.host_nqn).bytes());
  };
  EXPECT_EQ(key('0'), "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f");
  EXPECT_EQ(key('1'), "f00436f809dc2287e3ed2214b0bcaa025df0d1e71d82edb0a121024834ec3acb");
  EXPECT_EQ(key('2'),
            "9489722dd4309d38e43cdb663b2487b5d85637d667bfd6bb39aa130f50d006c0"
            "321c9d409cb6f1c9af7d39eee2d9f9f3");
  EXPECT_EQ(key('3'),
            "95c85402c4c892fea4b93e54549c3fb77c7e42159719b51fe646e59a5136bfbc"
            "47ff74118e3941c2c46f100b798c4ea13dd0b6a7f2908fc6a801226508b7bf03");
}

TEST(AuthSecret, ItsTextIsTheLineThatItWasReadFrom) {
  for (const auto text : {kHostSecret, kControllerSecret, kRawSecret}) {
    EXPECT_EQ(secret_of(text).text(), text);
    EXPECT_EQ(secret_of(std::string(text) + "\r\n").text(), text);
  }
  EXPECT_EQ(secret_of(kRawSecret).size(), 64U);
  EXPECT_FALSE(secret_of(kRawSecret).transform());
  EXPECT_EQ(secret_of(kControllerSecret).transform(), HashId::kSha384);
}

TEST(AuthSecret, WhatIsMadeIsRead) {
  for (const std::size_t size : {32U, 48U, 64U}) {
    const Secret made = Secret::make(HashId::kSha512, size, random_bytes);
    const Secret other = Secret::make(HashId::kSha512, size, random_bytes);
    EXPECT_EQ(secret_of(made.text()).size(), size);
    EXPECT_NE(made.text(), other.text());
  }
}

struct Wrong {
  const char* text;
  const char* names;
};
class AuthSecretWrong : public testing::TestWithParam<Wrong> {};

TEST_P(AuthSecretWrong, TheErrorNamesThePart) {
  const auto secret = Secret::parse(GetParam().text);
  ASSERT_FALSE(secret);
  EXPECT_NE(std::string_view(secret.error().what).find(GetParam().names), std::string_view::npos)
      << secret.error().what;
}

INSTANTIATE_TEST_SUITE_P(
    All, AuthSecretWrong,
    testing::Values(
        Wrong{"", "begin"}, Wrong{"DHHC-2:01:AAAA:", "begin"},
        Wrong{"NVMeTLSkey-1:01:AA:", "begin"}, Wrong{"DHHC-1:", "00, 01"},
        Wrong{"DHHC-1:04:AAAA:", "00, 01"}, Wrong{"DHHC-1:1:AAAA:", "00, 01"},
        Wrong{"DHHC-1:011:AAAA:", "00, 01"},
        Wrong{"DHHC-1:01:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh+KfiaR", "end"},
        Wrong{"DHHC-1:01:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh+KfiaS:", "checksum"},
        Wrong{"DHHC-1:01:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh+Kfia:", "base64"},
        Wrong{"DHHC-1:01:AAEC wQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh+KfiaR:", "base64"},
        Wrong{"DHHC-1:01::", "base64"}, Wrong{"DHHC-1:01:====:", "base64"},
        Wrong{"DHHC-1:01:AAB=:", "base64"}, Wrong{"DHHC-1:01:AAAA:", "32, 48"},
        Wrong{
            "DHHC-1:00:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8gISIjJCUmJygpKissLS4vMDEyMzQ1Njc4"
            "OTo7PD0+P4zODhA=AAAA:",
            "longer"}));

}  // namespace
}  // namespace forebay::nvme::auth
