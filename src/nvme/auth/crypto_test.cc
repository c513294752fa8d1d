// Groups, hashes and responses are those of an implementation that shares no code with this one.
#include "nvme/auth/crypto.h"

#include <gtest/gtest.h>

#include "core/hash.h"
#include "nvme/auth/auth_testing.h"

namespace forebay::nvme::auth {
namespace {

// The literals are what tests/interop/nvme_auth.py prints: SHA-256 of the values.
struct GroupVector {
  GroupId group;
  const char* public_value;
  const char* shared;
};
class AuthGroup : public testing::TestWithParam<GroupVector> {};

TEST_P(AuthGroup, MakesTheSecretThatAnotherImplementationMakes) {
  const GroupVector& vector = GetParam();
  const DhKey host(vector.group, pattern_source(0x10));
  const DhKey controller(vector.group, pattern_source(0x90));
  EXPECT_EQ(to_hex(sha256(host.public_value())), vector.public_value);
  const auto shared = host.shared(controller.public_value());
  ASSERT_TRUE(shared);
  EXPECT_EQ(to_hex(sha256(shared->bytes())), vector.shared);
  const auto same = controller.shared(host.public_value());
  ASSERT_TRUE(same);
  EXPECT_TRUE(same_bytes(shared->bytes(), same->bytes()));
}

// 0, 1, p - 1, p and what is longer would make a secret that a listener knows.
TEST_P(AuthGroup, TakesNoValueThatMakesAKnownSecret) {
  const DhKey key(GetParam().group, pattern_source(0x10));
  const std::size_t size = group_bytes(GetParam().group);
  std::vector<std::byte> value(size);
  EXPECT_FALSE(key.shared(value));
  value.back() = std::byte{1};
  EXPECT_FALSE(key.shared(value));
  value.back() = std::byte{2};
  EXPECT_TRUE(key.shared(value));
  value.assign(size, std::byte{0xFF});
  EXPECT_FALSE(key.shared(value));
  EXPECT_FALSE(key.shared(std::span(value).first(size - 1)));
  EXPECT_FALSE(key.shared({}));
}

INSTANTIATE_TEST_SUITE_P(
    All, AuthGroup,
    testing::Values(GroupVector{GroupId::kFfdhe2048,
                                "72a70b868ca8fd5c1ea173d6413d6051c57c453a67e7a803e1dd9ab60b3c4453",
                                "cf33990e0fff02ccf203e38c6631b36e80b45f8b5e531230deb818df844b7105"},
                    GroupVector{GroupId::kFfdhe3072,
                                "9284d5324a14b6f85d6688712bc8d7a84ea80bbb61621034c9a8d75df076323a",
                                "0f282cf4fc3763c989893151981a3a19054b8d046b439358ca49ef543ba0fbc8"},
                    GroupVector{GroupId::kFfdhe4096,
                                "f23136a87d26d177340f7a132439d52539934522f3bfe2f8018ba55c1074cda8",
                                "f3e1e53f6e276dcd54d556eb7d83f8c278e13fad60155692ca582eec487cdca9"},
                    GroupVector{GroupId::kFfdhe6144,
                                "c8ad84580955193e5272548aa0e50148f87d846417107e102cb4886d941d1390",
                                "917db720fa356ffe227eda90ba5687c7ad181ffda23873492f0f5dc2d9e75317"},
                    GroupVector{
                        GroupId::kFfdhe8192,
                        "863d3924baf645ad3b6b2fa654eaddd5c562c41990d54b17ec822846d490e495",
                        "52d6d0eb1e0929df6300528436288b195b993ee2628f0d117490d45039fe3931"}));

TEST(AuthCrypto, EqualIsEqual) {
  const auto bytes = std::as_bytes(std::span("abcd"));
  EXPECT_TRUE(same_bytes(bytes, bytes));
  EXPECT_FALSE(same_bytes(bytes, bytes.first(3)));
  EXPECT_FALSE(same_bytes(bytes, std::as_bytes(std::span("abce"))));
}

TEST(AuthMethod, NamesAndNumbersGoBothWays) {
  for (const HashId hash : kHashes) {
    EXPECT_EQ(parse_hash(to_string(hash)), hash);
    EXPECT_EQ(hash_of(static_cast<std::uint8_t>(hash)), hash);
  }
  for (const GroupId group : kGroups) {
    EXPECT_EQ(parse_group(to_string(group)), group);
    EXPECT_EQ(group_of(static_cast<std::uint8_t>(group)), group);
  }
  EXPECT_FALSE(parse_hash("sha1") || parse_group("ffdhe1024"));
  EXPECT_FALSE(hash_of(0) || hash_of(4) || group_of(6) || group_of(255));
}

}  // namespace
}  // namespace forebay::nvme::auth
