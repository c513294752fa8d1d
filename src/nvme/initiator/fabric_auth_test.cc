// A device over the fabric whose host and target prove themselves to each other, end to end.
#include <gtest/gtest.h>

#include <memory>
#include <string_view>
#include <vector>

#include "nvme/auth/auth_testing.h"
#include "nvme/initiator/fabric_fixture.h"

namespace forebay::nvme::initiator {
namespace {

using auth::GroupId;
using auth::HashId;
using auth::kControllerSecret;
using auth::kHostSecret;

class FabricAuthTest : public FabricFixture {
 protected:
  [[nodiscard]] Result<std::unique_ptr<FabricDevice>> open(
      std::shared_ptr<const auth::Credentials> credentials, Nanos again = {}) {
    FabricOptions options = target_.options();
    options.association.credentials = std::move(credentials);
    options.association.io_queues = 2;
    options.association.reauthenticate_every = again;
    return FabricDevice::open(loop_, options);
  }
  void expect_denied(std::shared_ptr<const auth::Credentials> credentials, std::string_view why) {
    const auto device = open(std::move(credentials));
    ASSERT_FALSE(device);
    EXPECT_EQ(device.error().code, Errc::kDenied);
    EXPECT_NE(std::string_view(device.error().what).find(why), std::string_view::npos)
        << device.error().what;
  }
};

TEST_F(FabricAuthTest, EveryHashAndGroupServes) {
  for (const HashId hash : auth::kHashes) {
    for (const GroupId group : {GroupId::kNull, GroupId::kFfdhe2048}) {
      const auto shared = auth::credentials_of(kHostSecret, kControllerSecret,
                                               {.hashes = {hash}, .groups = {group}});
      target_.set_credentials(shared);
      const auto device = open(shared);
      ASSERT_TRUE(device) << to_string(device.error());
      write_and_compare(**device, static_cast<std::uint64_t>(hash), static_cast<int>(group) + 1);
    }
  }
}

TEST_F(FabricAuthTest, AHostThatHasAKeyConnectsWhereNoneIsAskedFor) {
  const auto device = open(auth::credentials_of(kHostSecret));
  ASSERT_TRUE(device) << to_string(device.error());
  write_and_compare(**device, 0, 7);
}

TEST_F(FabricAuthTest, WhatKeepsAHostOutIsNamed) {
  target_.set_credentials(auth::credentials_of(kHostSecret, kControllerSecret));
  expect_denied(nullptr, "wants authentication, and a key");
  expect_denied(auth::credentials_of(kControllerSecret), "does not take this host's key");
  expect_denied(auth::credentials_of(kHostSecret, kHostSecret), "did not prove itself");
  expect_denied(auth::credentials_of(kHostSecret, "", {.groups = {}}), "no DH group");
  EXPECT_TRUE(open(auth::credentials_of(kHostSecret, kControllerSecret)));
}

// Whoever sits at the target's address need only not ask.
TEST_F(FabricAuthTest, ATargetThatDoesNotProveItselfIsRefused) {
  expect_denied(auth::credentials_of(kHostSecret, kControllerSecret),
                "does not authenticate itself");
  target_.set_credentials(auth::credentials_of(kHostSecret));
  expect_denied(auth::credentials_of(kHostSecret, kControllerSecret),
                "does not take this host's key");
}

TEST_F(FabricAuthTest, ATargetThatComesBackIsProvenAgain) {
  const auto shared = auth::credentials_of(kHostSecret, kControllerSecret);
  target_.set_credentials(shared);
  const auto device = open(shared);
  ASSERT_TRUE(device);
  write_and_compare(**device, 1, 1);
  target_.stop(std::chrono::seconds(1));
  target_.start(*disk_);
  write_and_compare(**device, 1, 2);
  EXPECT_EQ((*device)->counters().connections_lost, 1U);
}

TEST_F(FabricAuthTest, DataGoesOnWhileBothProveThemselvesAgain) {
  const auto shared = auth::credentials_of(
      kHostSecret, kControllerSecret, {.hashes = {HashId::kSha256}, .groups = {GroupId::kNull}});
  target_.set_credentials(shared);
  const auto device = open(shared, std::chrono::milliseconds(3));
  ASSERT_TRUE(device);
  const Nanos until = loop_.now() + std::chrono::milliseconds(300);
  for (int i = 0; loop_.now() < until; ++i) {
    write_and_compare(**device, static_cast<std::uint64_t>(i % 100), i);
  }
  EXPECT_EQ((*device)->counters().connections_lost, 0U);
}

}  // namespace
}  // namespace forebay::nvme::initiator
