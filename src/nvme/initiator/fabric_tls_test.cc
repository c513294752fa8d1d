// A device over the fabric and TLS, end to end: who is let in, who is not and what each is told,
// and that data goes on while keys are renewed and connections are lost.
#include <gtest/gtest.h>

#include <memory>
#include <string_view>
#include <vector>

#include "nvme/auth/auth_testing.h"
#include "nvme/initiator/cut_wire.h"
#include "nvme/initiator/fabric_fixture.h"
#include "nvme/target/test_host.h"
#include "nvme/tls/tls_testing.h"

namespace forebay::nvme::initiator {
namespace {

using tls::kBoundKey32;
using tls::kBoundKey48;
using tls::kDerivations;
using tls::kPlainKey32;
using tls::tls_key;
using tls::TlsMode;

class FabricTlsTest : public FabricFixture {
 protected:
  void serve(TlsMode mode, std::string_view key = kBoundKey32) {
    target_.stop(std::chrono::seconds(1));
    TestTls tls{.mode = mode, .key = std::nullopt};
    if (!key.empty()) tls.key = tls_key(key);
    target_.set_tls(tls);
    target_.start(*disk_);
  }
  [[nodiscard]] Result<std::unique_ptr<FabricDevice>> open(std::shared_ptr<const tls::Psk> psk) {
    FabricOptions options = target_.options();
    options.association.psk = std::move(psk);
    options.association.io_queues = 2;
    options.association.credentials = credentials_;
    return FabricDevice::open(loop_, options);
  }
  static std::shared_ptr<const tls::Psk> psk(std::string_view key = kBoundKey32) {
    return TestTarget::psk_of(tls_key(key));
  }
  void expect_refused(std::shared_ptr<const tls::Psk> with, Errc code, std::string_view why) {
    const Nanos begin = loop_.now();
    const auto device = open(std::move(with));
    ASSERT_FALSE(device);
    EXPECT_EQ(device.error().code, code) << device.error().what;
    EXPECT_NE(std::string_view(device.error().what).find(why), std::string_view::npos)
        << device.error().what;
    EXPECT_LT(loop_.now() - begin, std::chrono::seconds(2)) << "it is told, not timed out";
    pass(std::chrono::seconds(6));
    EXPECT_EQ(target_.connection_count(), 0U);
  }
  void pass(Nanos span) {
    const Nanos until = loop_.now() + span;
    while (loop_.now() < until) loop_.turn();
  }

  std::shared_ptr<const auth::Credentials> credentials_;
};

TEST_F(FabricTlsTest, EveryIdentityAndDerivationServes) {
  for (const auto key : {kPlainKey32, kBoundKey32, kBoundKey48}) {
    serve(TlsMode::kRequired, key);
    for (const auto version : {tls::IdentityVersion::kNames, tls::IdentityVersion::kDigest}) {
      for (const tls::Derivation derivation : kDerivations) {
        const auto device = open(TestTarget::psk_of(tls_key(key), version, derivation));
        ASSERT_TRUE(device) << to_string(device.error());
        write_and_compare(**device, 3, static_cast<int>(version) + 1);
      }
    }
  }
}

TEST_F(FabricTlsTest, AHostIsToldWhyItIsNotLetIn) {
  serve(TlsMode::kRequired);
  expect_refused(TestTarget::psk_of(tls_key(kPlainKey32), tls::IdentityVersion::kNames),
                 Errc::kDenied, "holds another TLS key");
  expect_refused(psk(kPlainKey32), Errc::kDenied, "no TLS key for this host");
  expect_refused(psk(kBoundKey48), Errc::kDenied, "no TLS key for this host");
  serve(TlsMode::kRequired, "");
  expect_refused(psk(), Errc::kDenied, "no TLS key for this host");
}

TEST_F(FabricTlsTest, PlainOnATlsPortIsClosedUpon) {
  serve(TlsMode::kRequired);
  expect_refused(nullptr, Errc::kGone, "it may require TLS");
}

TEST_F(FabricTlsTest, TlsOnAPlainPortIsClosedUponAndSaidSo) {
  serve(TlsMode::kOff, "");
  expect_refused(psk(), Errc::kGone, "expects plain NVMe/TCP");
}

TEST_F(FabricTlsTest, AnOptionalPortTakesBothButAHostWithAKeyByTlsAlone) {
  serve(TlsMode::kOptional, "");
  EXPECT_TRUE(open(nullptr));
  serve(TlsMode::kOptional);
  EXPECT_TRUE(open(psk()));
  expect_refused(nullptr, Errc::kDenied, "not on the target's list");
}

// A host's key says who it is: another's name does not go with it.
TEST_F(FabricTlsTest, AKeyIsOfItsOwnNamesAlone) {
  serve(TlsMode::kRequired);
  FabricOptions options = target_.options();
  options.association.host.nqn = "nqn.2026-12.org.forebay:other";
  const auto device = FabricDevice::open(loop_, options);
  ASSERT_FALSE(device);
  EXPECT_EQ(device.error().code, Errc::kDenied);
}

TEST_F(FabricTlsTest, BothProveThemselvesWithinTls) {
  credentials_ = auth::credentials_of(auth::kHostSecret, auth::kControllerSecret);
  target_.set_credentials(credentials_);
  serve(TlsMode::kRequired);
  const auto device = open(psk());
  ASSERT_TRUE(device) << to_string(device.error());
  write_and_compare(**device, 1, 7);
  credentials_ = auth::credentials_of(auth::kControllerSecret);
  const auto other = open(psk());
  ASSERT_FALSE(other);
  EXPECT_NE(std::string_view(other.error().what).find("does not take this host's key"),
            std::string_view::npos);
}

TEST_F(FabricTlsTest, ATargetThatComesBackIsFoundAgain) {
  serve(TlsMode::kRequired);
  const auto device = open(psk());
  ASSERT_TRUE(device);
  write_and_compare(**device, 1, 1);
  for (const Nanos patience : {Nanos(std::chrono::seconds(1)), Nanos{}}) {
    target_.stop(patience);
    target_.start(*disk_);
    write_and_compare(**device, 1, 2);
  }
  EXPECT_EQ((*device)->counters().connections_lost, 2U);
}

// The target renews its key every few records, and has the host renew its own.
TEST_F(FabricTlsTest, KeysAreRenewedWhileDataGoesOn) {
  target::TargetOptions options;
  options.limits.tls_records_per_key = 3;
  TestTarget target(loop_, *disk_, options,
                    {.mode = TlsMode::kRequired, .key = tls_key(kBoundKey48)});
  const auto device = FabricDevice::open(loop_, target.options());
  ASSERT_TRUE(device) << to_string(device.error());
  for (int i = 0; i < 300; ++i) {
    write_and_compare(**device, static_cast<std::uint64_t>(i % 100), i % 256);
  }
  EXPECT_EQ((*device)->counters().connections_lost, 0U);
}

// A stranger has ten seconds, whatever it says or does not say in a handshake.
TEST_F(FabricTlsTest, AHandshakeThatDoesNotEndIsClosedUpon) {
  serve(TlsMode::kRequired);
  target::TestHost silent(loop_, target_.port());
  target::TestHost slow(loop_, target_.port());
  const auto session = tls::Session::connect(*psk());
  ASSERT_TRUE(slow.send(session->output().first(100)));
  pass(std::chrono::seconds(9));
  EXPECT_EQ(target_.connection_count(), 2U);
  pass(std::chrono::seconds(2));
  EXPECT_EQ(target_.connection_count(), 0U);
}

TEST_F(FabricTlsTest, WhatIsNoHandshakeIsClosedUpon) {
  serve(TlsMode::kRequired);
  for (const unsigned first : {0x00U, 0x15U, 0x16U, 0x17U, 0x47U}) {
    target::TestHost host(loop_, target_.port());
    std::vector<std::byte> bytes(2000, static_cast<std::byte>(first));
    (void)host.send(bytes);
    pass(std::chrono::seconds(2));
    EXPECT_EQ(target_.connection_count(), 0U) << first;
  }
}

TEST_F(FabricTlsTest, AConnectionThatIsCutAnywhereIsMadeAgain) {
  serve(TlsMode::kRequired);
  for (const bool to_target : {true, false}) {
    for (std::size_t after = 0; after < 6000; after += 211) {
      SCOPED_TRACE(after);
      CutWire wire(loop_, target_.port());
      FabricOptions options = target_.options();
      options.addresses = {loopback(wire.port())};
      auto device = FabricDevice::open(loop_, options);
      ASSERT_TRUE(device);
      wire.cut({.to_target = to_target, .after_bytes = wire.bytes(1, to_target) + after});
      write_and_compare(**device, 1, 1);
      write_and_compare(**device, 2, 2);
      EXPECT_TRUE(wire.was_cut());
      EXPECT_EQ((*device)->counters().connections_lost, 1U);
      device->reset();
      if (HasFailure()) return;
    }
  }
}

}  // namespace
}  // namespace forebay::nvme::initiator
