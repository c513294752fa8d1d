// Keys and identities are those of another implementation, and lines are read strictly.
#include "nvme/tls/psk.h"

#include <gtest/gtest.h>

#include "core/hash.h"
#include "nvme/tls/tls_testing.h"

namespace forebay::nvme::tls {
namespace {

struct Vector {
  std::string_view line;
  IdentityVersion version;
  Derivation derivation;
  const char* digest;  // of the identity; "": it has none
  const char* key;
};
class TlsPskVector : public testing::TestWithParam<Vector> {};

TEST_P(TlsPskVector, IsWhatAnotherImplementationDerives) {
  const Vector& wanted = GetParam();
  const TlsKey key = tls_key(wanted.line);
  const Psk psk = derive_psk(key, kPskParties, wanted.version, wanted.derivation).value();
  std::string identity = wanted.version == IdentityVersion::kNames ? "NVMe0R0" : "NVMe1R0";
  identity += key.hash() == PskHash::kSha256 ? "1 " : "2 ";
  identity += "nqn.2026-12.org.forebay:host nqn.2026-12.org.forebay:disk";
  if (*wanted.digest != '\0') identity += std::string(" ") + wanted.digest;
  EXPECT_EQ(psk.identity, identity);
  EXPECT_EQ(to_hex(psk.key.bytes()), wanted.key);
  EXPECT_EQ(key.text(), wanted.line);
}

// The literals are what tests/interop/nvme_tls_psk.py prints.
INSTANTIATE_TEST_SUITE_P(
    All, TlsPskVector,
    testing::Values(Vector{kPlainKey32, IdentityVersion::kNames, Derivation::kSpec, "",
                           "b96fc424160e28b33ae9a5610f5708e7d6d38cd9872d12da88114de0955c17db"},
                    Vector{kPlainKey32, IdentityVersion::kDigest, Derivation::kSpec,
                           "dc3JnmPuQpaxbZh1eEgMY2cvgmD3QS55og5qUNHHcFQ=",
                           "71275e415bfe460543d519fa1c880138c369093751e175c936281f63d7556b21"},
                    Vector{kPlainKey32, IdentityVersion::kNames, Derivation::kCompat, "",
                           "e38e3e2a2160336f44429e01226ada9fcb5393460dbc53e67b6d6b8ed6caaf08"},
                    Vector{kPlainKey32, IdentityVersion::kDigest, Derivation::kCompat,
                           "dc3JnmPuQpaxbZh1eEgMY2cvgmD3QS55og5qUNHHcFQ=",
                           "a08c9938439c598aaa10df688631b2831804c0ae4023ee1e7ca42ad8301e3fab"},
                    Vector{kBoundKey32, IdentityVersion::kNames, Derivation::kSpec, "",
                           "c5c37cca6588740411b010a5dbe35dc36131dba54d8db6ac7dbe1b261dcdd89d"},
                    Vector{kBoundKey32, IdentityVersion::kDigest, Derivation::kSpec,
                           "BnRadibUcBAy22v9Vwn5O8nZmNNg20xrVK9HZWMiuz0=",
                           "71fd051ecfebff8f38ce59d579b41c94be7dbccca0c450686a3f368beb794641"},
                    Vector{kBoundKey32, IdentityVersion::kNames, Derivation::kCompat, "",
                           "e12fbe13faaa907760529baa4cd721ae2f69c802241eed5d380af11f49d5d357"},
                    Vector{kBoundKey32, IdentityVersion::kDigest, Derivation::kCompat,
                           "bxvDKcC1SPss8Bc9M3i37jKkTMQ/VyPeeNir93neN5c=",
                           "5e333008b4adda2cb79ee8c98731b06436987c2491c5f355a46e331eb3c3eb89"},
                    Vector{kPlainKey48, IdentityVersion::kNames, Derivation::kSpec, "",
                           "6d894b621e4604bc5106d153197c95773695b23fcab729905397203ac5f41a741f786c9"
                           "3b9829e3d7d4379050add7fd7"},
                    Vector{kPlainKey48, IdentityVersion::kDigest, Derivation::kSpec,
                           "0zmDYYxabCgOn4UuIuC7GoYRU1A8F1L7ElPINfoUfmXHW/clbwnZfkBbUmUnKCk/",
                           "8507d2f0bb807fa0ce1ab1a1948e496f2602d39028ddfc7c40f8fd8d65c942c0af1d0d2"
                           "c2ee22390fb81b1d75a3e9507"},
                    Vector{kPlainKey48, IdentityVersion::kNames, Derivation::kCompat, "",
                           "032b2a7ac57f604cf8a100105474a0ca6da85f6a6f302b99ac08edde118738c55b562ad"
                           "f1b2e5c8ca711fd585be77781"},
                    Vector{kPlainKey48, IdentityVersion::kDigest, Derivation::kCompat,
                           "0zmDYYxabCgOn4UuIuC7GoYRU1A8F1L7ElPINfoUfmXHW/clbwnZfkBbUmUnKCk/",
                           "7dae687fbd9aab38068777adbd4edaf32ee13b2540bb3396cf5d2e440e843390f30a73a"
                           "0d4cd8d6510026a4832765d89"},
                    Vector{kBoundKey48, IdentityVersion::kNames, Derivation::kSpec, "",
                           "d2b9a3deb91425561086044a80521d645cef699c22673b649a3541bcd9a5d9da8cc41e7"
                           "0fb25996d55ea13c0f2c6d46e"},
                    Vector{kBoundKey48, IdentityVersion::kDigest, Derivation::kSpec,
                           "xcOYkVbn87XQLehUYA7KLuLOpL5qUv4Zy9d2N6ULe1a4WH592r3xWd5cGqLalZSN",
                           "60cf15673b3208a70acb709494ebf359ca7957a6a405c6fec63774fce05fed1c13f9d41"
                           "ce7c7946b9764abd63264c2d2"},
                    Vector{kBoundKey48, IdentityVersion::kNames, Derivation::kCompat, "",
                           "89482238d29a6bf22b3e4a19b836f2155fd3462b766b41a2104d7c24eff3f91111560c8"
                           "f6243d9e1b4e2764058a4d229"},
                    Vector{kBoundKey48, IdentityVersion::kDigest, Derivation::kCompat,
                           "7CSnrxrI3ttE0+yjtuQuOreh9Td09xRbiyRtFlHl/QAMUihckm2blKzimn+XUv66",
                           "42018cb7e493b0a2d07bee7c643f06727dfaec9f0d4a9ab4cfd95245ae25fb1fb59bb70"
                           "1fe8e864f2defec8220217b8e"}));

// libnvme's public test of its identities (test/psk.c), by both of its derivations.
TEST(TlsPsk, IdentitiesAreThoseOfLibnvme) {
  const PskParties parties{.host_nqn = "nqn.psk-test-host", .subsystem_nqn = "nqn.psk-test-subsys"};
  const TlsKey short_key =
      tls_key("NVMeTLSkey-1:01:VRLbtnN9AQb2WXW3c9+wEf/DRLz0QuLdbYvEhwtdWwNf9LrZ:");
  const TlsKey long_key = tls_key(
      "NVMeTLSkey-1:02:VRLbtnN9AQb2WXW3c9+wEf/DRLz0QuLdbYvEhwtdWwP/w0S89ELi3W2LxIcLXVsDn8kXZQ==:");
  const auto identity = [&parties](const TlsKey& key, Derivation derivation) {
    return derive_psk(key, parties, IdentityVersion::kDigest, derivation)->identity;
  };
  EXPECT_EQ(identity(short_key, Derivation::kSpec),
            "NVMe1R01 nqn.psk-test-host nqn.psk-test-subsys "
            "iSbjiStwJ/1TrTvDlt2fjFmzvsytOJelidNnA+X5lEU=");
  EXPECT_EQ(identity(short_key, Derivation::kCompat),
            "NVMe1R01 nqn.psk-test-host nqn.psk-test-subsys "
            "66GuqV08TsAGII39teWUfwQwizjv06Jy8jOcX3NAAzM=");
  EXPECT_EQ(identity(long_key, Derivation::kSpec),
            "NVMe1R02 nqn.psk-test-host nqn.psk-test-subsys "
            "QhW2+Rp6RzHlNtCslyRxMnwJ11tKKhz8JCAQpQ+XUD8f9td1VeH5h53yz2wKJG1a");
  EXPECT_EQ(identity(long_key, Derivation::kCompat),
            "NVMe1R02 nqn.psk-test-host nqn.psk-test-subsys "
            "RsKmYJ3nAn1ApjjMloJFbAkLPivONDAX/xW327YBUsn2eGShXSjCZvBaOxscLqmz");
}

TEST(TlsPsk, WhatIsMadeIsRead) {
  for (const PskHash hash : {PskHash::kSha256, PskHash::kSha384}) {
    for (const bool bound : {false, true}) {
      const TlsKey made = TlsKey::make(hash, bound, auth::random_bytes);
      const TlsKey again = tls_key(made.text() + "\r\n");
      EXPECT_EQ(again.hash(), hash);
      EXPECT_EQ(again.bound(), bound);
      EXPECT_EQ(again.text(), made.text());
      EXPECT_NE(TlsKey::make(hash, bound, auth::random_bytes).text(), made.text());
    }
  }
}

TEST(TlsPsk, IdentityTakesBackWhatItWasMadeOf) {
  for (const auto version : {IdentityVersion::kNames, IdentityVersion::kDigest}) {
    const Psk psk = test_psk(kBoundKey48, version);
    const auto identity = parse_identity(psk.identity);
    ASSERT_TRUE(identity);
    EXPECT_EQ(identity->version, version);
    EXPECT_EQ(identity->hash, PskHash::kSha384);
    EXPECT_EQ(identity->parties, kPskParties);
    EXPECT_EQ(identity->digest.empty(), version == IdentityVersion::kNames);
  }
}

TEST(TlsPsk, WhatIsNoIdentityIsNone) {
  for (const char* text :
       {"", "NVMe0R01", "NVMe0R01 ", "NVMe0R01 nqn.a", "NVMe0R01 nqn.a nqn.b nqn.c",
        "NVMe1R01 nqn.a nqn.b", "NVMe1R01 nqn.a nqn.b c d", "NVMe2R01 nqn.a nqn.b",
        "NVMe0R03 nqn.a nqn.b", "NVMe0G01 nqn.a nqn.b", "NVMe0R01  nqn.b", "NVMe0R01 a nqn.b",
        "Client_identity"}) {
    EXPECT_FALSE(parse_identity(text)) << text;
  }
  EXPECT_FALSE(parse_identity("NVMe0R01 nqn." + std::string(1000, 'a') + " nqn.b"));
}

// Its label takes 255 bytes; a digest takes the names' place in version 1.
TEST(TlsPsk, NamesThatAreTooLongTogetherAreRefused) {
  const PskParties parties{.host_nqn = "nqn." + std::string(200, 'h'),
                           .subsystem_nqn = "nqn." + std::string(200, 's')};
  const TlsKey key = tls_key(kBoundKey32);
  EXPECT_FALSE(derive_psk(key, parties, IdentityVersion::kNames, Derivation::kSpec));
  EXPECT_TRUE(derive_psk(key, parties, IdentityVersion::kDigest, Derivation::kSpec));
}

struct Wrong {
  const char* text;
  const char* names;
};
class TlsKeyWrong : public testing::TestWithParam<Wrong> {};

TEST_P(TlsKeyWrong, TheErrorNamesThePart) {
  const auto key = TlsKey::parse(GetParam().text);
  ASSERT_FALSE(key);
  EXPECT_NE(std::string_view(key.error().what).find(GetParam().names), std::string_view::npos)
      << key.error().what;
}

INSTANTIATE_TEST_SUITE_P(
    All, TlsKeyWrong,
    testing::Values(
        Wrong{"", "begin"}, Wrong{"DHHC-1:01:AA:", "begin"}, Wrong{"NVMeTLSkey-2:01:AA:", "begin"},
        Wrong{"NVMeTLSkey-1:03:AA:", "00, 01, 02"}, Wrong{"NVMeTLSkey-1:1:AA:", "00, 01, 02"},
        Wrong{"NVMeTLSkey-1:01:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh+KfiaR", "end"},
        Wrong{"NVMeTLSkey-1:01:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh+KfiaS:", "checksum"},
        Wrong{"NVMeTLSkey-1:01:AAEC wQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh+KfiaR:", "base64"},
        Wrong{"NVMeTLSkey-1:02:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh+KfiaR:", "hash"},
        Wrong{"NVMeTLSkey-1:01:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8gISIjJCUmJygpKissLS4vcS"
              "EgBQ==:",
              "hash"},
        Wrong{"NVMeTLSkey-1:00:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8gISIjJCUmJygpKissLS4vMDE"
              "yMzQ1Njc4OTo7PD0+P4zODhA=:",
              "neither 32"}));

}  // namespace
}  // namespace forebay::nvme::tls
