// Both sides of an authentication against one another, against the transcripts of another
// implementation, and against what goes wrong.
#include <gtest/gtest.h>

#include <string>

#include "core/hash.h"
#include "nvme/auth/auth_testing.h"

namespace forebay::nvme::auth {
namespace {

constexpr std::string_view kOtherSecret = kControllerSecret;

Methods only(HashId hash, GroupId group) { return {.hashes = {hash}, .groups = {group}}; }

struct Pair {
  Pair(const std::shared_ptr<Credentials>& of_host,
       const std::shared_ptr<Credentials>& of_controller)
      : host(of_host, kParties, 7, pattern_source(0x10)),
        controller(of_controller, kParties, pattern_source(0x90)) {}
  std::vector<Message> run() { return converse(host, controller); }
  HostSide host;
  ControllerSide controller;
};

void expect_authenticated(const Pair& pair) {
  EXPECT_EQ(pair.host.state(), HostState::kDone);
  EXPECT_EQ(pair.controller.state(), ControllerState::kDone);
  EXPECT_TRUE(pair.controller.authenticated());
}
void expect_refused(const Pair& pair, std::string_view host_says, std::string_view why) {
  EXPECT_EQ(pair.host.state(), HostState::kFailed);
  EXPECT_EQ(pair.controller.state(), ControllerState::kFailed);
  EXPECT_FALSE(pair.controller.authenticated());
  EXPECT_NE(std::string_view(pair.host.failure().what).find(host_says), std::string_view::npos)
      << pair.host.failure().what;
  EXPECT_NE(pair.controller.why().find(why), std::string_view::npos) << pair.controller.why();
}

// What tests/interop/nvme_auth.py prints: SHA-256 of all messages, one after another.
struct Transcript {
  HashId hash;
  GroupId group;
  bool both;
  const char* digest;
};
class AuthTranscript : public testing::TestWithParam<Transcript> {};

TEST_P(AuthTranscript, IsThatOfAnotherImplementation) {
  const Transcript& known = GetParam();
  const auto shared = credentials_of(kHostSecret, known.both ? kControllerSecret : "",
                                     only(known.hash, known.group));
  Pair pair(shared, shared);
  Sha256 all;
  for (const Message& message : pair.run()) all.update(message);
  EXPECT_EQ(to_hex(all.finish()), known.digest);
  expect_authenticated(pair);
}

constexpr auto k256 = HashId::kSha256;
constexpr auto k384 = HashId::kSha384;
constexpr auto k512 = HashId::kSha512;
constexpr auto k0 = GroupId::kNull;
constexpr auto k2048 = GroupId::kFfdhe2048;
constexpr auto k3072 = GroupId::kFfdhe3072;
INSTANTIATE_TEST_SUITE_P(
    All, AuthTranscript,
    testing::Values(Transcript{k256, k0, false,
                               "35495a07a96726cb6de6b4f14f1d746499e00caf02809e9fa12262cc43ac1610"},
                    Transcript{k256, k0, true,
                               "730fbaef4351d4742eaa724109ad97e27e816c1b0ab5e5414c4af63b0f444f88"},
                    Transcript{k256, k2048, false,
                               "311b3996f39785a48e881f61acb60689b27b8a80256ae65dc763ee71c0babf76"},
                    Transcript{k256, k2048, true,
                               "b3595b42ecffd3906ef7df647d44b159ef90885e448f77efefdfab195b4112f1"},
                    Transcript{k256, k3072, false,
                               "f7e66d090d6cb4cc10efe7263eeb6a8721c8f3ae131d3d96f25caf5b78801e8a"},
                    Transcript{k256, k3072, true,
                               "9433ca4964233b3053ff753b82c2a5243040e77ff563da4b33570b6588c7caca"},
                    Transcript{k384, k0, false,
                               "f505a4056f43a4d6d98b29cd6b6328b14524c734e31b6fd0a9b3d181cfba029b"},
                    Transcript{k384, k0, true,
                               "557fd47c69c9bf73276664b888c25d299e12466d8b4467d09e91c8806cc3ad4d"},
                    Transcript{k384, k2048, false,
                               "dc6de4b7b84754b03c8b6abf5744a759d25f4329d917414f7f47b76a9a6a49a1"},
                    Transcript{k384, k2048, true,
                               "ba0dc9ff7bf4c844f17c93d6ac4ec8a76f97ffe10d526678ad015c6cf164fa4d"},
                    Transcript{k384, k3072, false,
                               "64d4d2284f16e52a4f6a30095fb25d766b17d123afdc1102fce089b9803dcbae"},
                    Transcript{k384, k3072, true,
                               "f55b73ef5bf6cf10263f3d578d5d57a60fdfe8ecd2b32ed481e919a2191c7ccf"},
                    Transcript{k512, k0, false,
                               "ab5351ee6c0be8f6b132947944cff6021cee0a8aabcf86d6cea115147bd0b56e"},
                    Transcript{k512, k0, true,
                               "2cdc66a99cac4e812df87a820ed31702bbd1d0109504c3e060d62effb3bc8301"},
                    Transcript{k512, k2048, false,
                               "54e00b37dd0c260a83eaac1294ba07c863fcc9723e2014d7dfe0d87621d0a71b"},
                    Transcript{k512, k2048, true,
                               "c2a67a7baf493e39291fc14759c606885189d9bd133727e0dcc0c1e4d9097346"},
                    Transcript{k512, k3072, false,
                               "0c7c7921367acc45a1378ed8d440477018d6583f178e46ddde226b9d44e1ed83"},
                    Transcript{
                        k512, k3072, true,
                        "9b8ae07e6a095fb448dff615d97c86335a3b1e18d83e88120a8dddf840e6b1e4"}));

// A long one, in bytes: what a reader of the specification can check.
TEST(AuthSides, WriteTheBytesOfAnotherImplementation) {
  const auto shared = credentials_of(kHostSecret, kControllerSecret, only(k256, k0));
  Pair pair(shared, shared);
  const auto wire = pair.run();
  ASSERT_EQ(wire.size(), 5U);
  EXPECT_EQ(
      to_hex(wire[1]),
      "010100000700200001000000b1b1b2b3909192939495969798999a9b9c9d9e9fa0a1a2a3a4a5a6a7a8a9aaab"
      "acadaeaf");
  EXPECT_EQ(
      to_hex(wire[2]),
      "0102000007002000010000003131323341a8c482dee66bf60e2960117ff96a324d9e9bb512b5f95fd0ec01f0"
      "a84cb2ca101112131415161718191a1b1c1d1e1f202122232425262728292a2b2c2d2e2f");
  EXPECT_EQ(
      to_hex(wire[3]),
      "0103000007002000010000000000000002aae3e753f574178002986e66f6056a8d1735904b8de1f5641e047a"
      "35788592");
  EXPECT_EQ(to_hex(wire[4]), "01040000070000000000000000000000");
}

TEST(AuthSides, EveryGroupServes) {
  for (const GroupId group : kGroups) {
    const auto shared = credentials_of(kRawSecret, kControllerSecret, only(k384, group));
    Pair pair(shared, shared);
    const auto wire = pair.run();
    expect_authenticated(pair);
    EXPECT_EQ(pair.controller.group(), group);
    for (const Message& message : wire) EXPECT_LE(message.size(), kMessageBytesMax);
  }
}

TEST(AuthSides, TheControllerTakesItsDearestOfWhatBothAllow) {
  const auto host =
      credentials_of(kHostSecret, "", {.hashes = {k256, k512}, .groups = {k0, k2048}});
  const auto controller =
      credentials_of(kHostSecret, "", {.hashes = {k384, k512, k256}, .groups = {k2048, k0}});
  Pair pair(host, controller);
  pair.run();
  expect_authenticated(pair);
  EXPECT_EQ(pair.controller.hash(), k512);
  EXPECT_EQ(pair.controller.group(), k2048);
}

TEST(AuthSides, AKeyThatIsAnotherIsRefused) {
  for (const GroupId group : {k0, k2048}) {
    Pair pair(credentials_of(kOtherSecret, "", only(k256, group)), credentials_of(kHostSecret));
    pair.run();
    expect_refused(pair, "does not take this host's key", "its key is another");
  }
}

TEST(AuthSides, AControllerThatDoesNotProveItselfIsRefused) {
  Pair pair(credentials_of(kHostSecret, kControllerSecret),
            credentials_of(kHostSecret, kHostSecret));
  pair.run();
  expect_refused(pair, "did not prove itself", "does not take the controller's key");
}

// It says that all is well, without the response that it was asked for.
TEST(AuthSides, ASilentControllerIsRefused) {
  HostSide host(credentials_of(kHostSecret, kControllerSecret, only(k256, k0)), kParties, 7,
                pattern_source(1));
  ControllerSide controller(credentials_of(kHostSecret, kControllerSecret), kParties);
  controller.received(host.message());
  host.sent();
  host.received(controller.answer());
  host.sent();
  ASSERT_EQ(host.state(), HostState::kAwaitSuccess1);
  host.received(write(Success1{.transaction = 7, .hash = k256}));
  EXPECT_EQ(host.state(), HostState::kFailure2);
  EXPECT_EQ(host.failure().code, Errc::kDenied);
}

TEST(AuthSides, AControllerWithoutAKeyOfItsOwnSaysSo) {
  Pair pair(credentials_of(kHostSecret, kControllerSecret), credentials_of(kHostSecret));
  pair.run();
  expect_refused(pair, "does not take this host's key", "has no key for that");
}

TEST(AuthSides, NothingInCommonIsNamed) {
  Pair hashes(credentials_of(kHostSecret, "", only(k256, k0)),
              credentials_of(kHostSecret, "", only(k512, k0)));
  hashes.run();
  expect_refused(hashes, "no hash", "no hash");
  Pair groups(credentials_of(kHostSecret, "", only(k256, k0)),
              credentials_of(kHostSecret, "", only(k256, k2048)));
  groups.run();
  expect_refused(groups, "no DH group", "no DH group");
}

TEST(AuthSides, NamesAreProvenToo) {
  const auto shared = credentials_of(kRawSecret);
  HostSide host(shared, kParties, 7);
  ControllerSide controller(shared, {kParties.host_nqn, "nqn.2026-12.org.forebay:another"});
  converse(host, controller);
  EXPECT_EQ(host.state(), HostState::kFailed);
  EXPECT_FALSE(controller.authenticated());
}

TEST(AuthSides, AHostAuthenticatesAgainWhileItIsAuthenticated) {
  const auto shared = credentials_of(kHostSecret, kControllerSecret);
  ControllerSide controller(shared, kParties);
  for (std::uint16_t transaction = 1; transaction < 20; ++transaction) {
    HostSide host(shared, kParties, transaction);
    controller.received(host.message());
    EXPECT_EQ(controller.authenticated(), transaction != 1);
    host.sent();
    converse(host, controller);
    ASSERT_EQ(host.state(), HostState::kDone);
    ASSERT_TRUE(controller.authenticated());
  }
  HostSide wrong(credentials_of(kOtherSecret), kParties, 30);
  converse(wrong, controller);
  EXPECT_FALSE(controller.authenticated());
}

TEST(AuthSides, WhoBeginsAgainAndAgainIsRefused) {
  const auto shared = credentials_of(kHostSecret, "", only(k256, k0));
  ControllerSide controller(shared, kParties);
  for (unsigned i = 0; i < kBeginningsMax; ++i) {
    controller.received(HostSide(shared, kParties, 1).message());
    EXPECT_EQ(controller.state(), ControllerState::kChallenge);
  }
  controller.received(HostSide(shared, kParties, 1).message());
  EXPECT_EQ(controller.state(), ControllerState::kFailure1);
}

// An old reply, to a challenge that is gone, is of no use.
TEST(AuthSides, AReplyIsGoodForOneChallenge) {
  const auto shared = credentials_of(kHostSecret, "", only(k256, k0));
  HostSide host(shared, kParties, 7);
  ControllerSide first(shared, kParties);
  const auto wire = converse(host, first);
  ControllerSide second(shared, kParties);
  second.received(wire[0]);
  second.answered();
  second.received(wire[2]);
  EXPECT_EQ(second.state(), ControllerState::kFailure1);
}

// At any place, any message of the wrong kind, cut short, or with one bit changed, ends it; where
// the bit means nothing it may go on, but nobody is authenticated by a wrong response.
TEST(AuthSides, ACutMessageAuthenticatesNobody) {
  for (const GroupId group : {k0, k2048}) {
    const auto shared = credentials_of(kHostSecret, kControllerSecret, only(k256, group));
    for (std::size_t broken = 0; broken < 5; ++broken) {
      Pair whole(shared, shared);
      const std::size_t size = whole.run()[broken].size();
      for (std::size_t cut = 0; cut < size; cut += group == k0 ? 1 : 23) {
        Pair pair(shared, shared);
        for (std::size_t i = 0; pair.host.sends() || pair.host.receives(); ++i) {
          const bool sends = pair.host.sends();
          const auto bytes =
              sends ? std::span<const std::byte>(pair.host.message()) : pair.controller.answer();
          Message message(bytes.begin(), bytes.end());
          if (i == broken) message.resize(cut);
          if (sends) {
            pair.controller.received(message);
            pair.host.sent();
          } else {
            pair.controller.answered();
            pair.host.received(message);
          }
        }
        // Of Success2 only the head says something.
        if (broken != 4 || cut < 6)
          EXPECT_FALSE(pair.controller.authenticated()) << broken << " " << cut;
        if (broken != 4) EXPECT_EQ(pair.host.state(), HostState::kFailed) << broken << " " << cut;
      }
    }
  }
}

TEST(AuthSides, AnyChangedBitOfAProofIsSeen) {
  const auto shared = credentials_of(kHostSecret, kControllerSecret, only(k256, k0));
  constexpr std::size_t kProofAt = 16;
  for (std::size_t bit = 0; bit < 256; ++bit) {
    for (const bool of_host : {true, false}) {
      Pair pair(shared, shared);
      const auto change = [bit](std::span<const std::byte> bytes) {
        Message message(bytes.begin(), bytes.end());
        message[kProofAt + bit / 8] ^= static_cast<std::byte>(1 << (bit % 8));
        return message;
      };
      while (pair.host.sends() || pair.host.receives()) {
        if (pair.host.sends()) {
          const bool reply = of_host && pair.host.state() == HostState::kReply;
          pair.controller.received(reply ? change(pair.host.message()) : pair.host.message());
          pair.host.sent();
        } else {
          const bool proof = !of_host && pair.host.state() == HostState::kAwaitSuccess1;
          const auto bytes = pair.controller.answer();
          const Message message = proof ? change(bytes) : Message(bytes.begin(), bytes.end());
          pair.controller.answered();
          pair.host.received(message);
        }
      }
      EXPECT_EQ(pair.host.state(), HostState::kFailed);
      EXPECT_FALSE(pair.controller.authenticated());
    }
  }
}

TEST(AuthSides, WhatIsOutOfTurnEndsIt) {
  const auto shared = credentials_of(kHostSecret, "", only(k256, k0));
  HostSide host(shared, kParties, 7);
  ControllerSide other(shared, kParties);
  const auto wire = converse(host, other);
  for (const Message& message : {wire[1], wire[2], wire[3], write_success2(7)}) {
    ControllerSide controller(shared, kParties);
    controller.received(message);
    EXPECT_EQ(controller.state(), ControllerState::kFailure1);
    controller.answered();
    EXPECT_EQ(controller.state(), ControllerState::kFailed);
    controller.received(wire[0]);  // it is final
    EXPECT_EQ(controller.state(), ControllerState::kFailed);
    EXPECT_TRUE(controller.answer().empty());
  }
}

TEST(AuthSides, EveryStateHasAName) {
  for (int i = 0; i < 8; ++i) {
    EXPECT_FALSE(to_string(static_cast<HostState>(i)).empty());
    EXPECT_FALSE(to_string(static_cast<ControllerState>(i)).empty());
    EXPECT_FALSE(to_string(static_cast<Explanation>(i)).empty());
  }
  EXPECT_EQ(to_string(HostState::kFailed), "failed");
  EXPECT_EQ(to_string(ControllerState::kFailed), "failed");
}

}  // namespace
}  // namespace forebay::nvme::auth
