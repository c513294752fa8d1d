// Two ends with one key understand each other however their bytes are cut, nobody else does, and
// what goes wrong is named.
#include "nvme/tls/session.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

#include "nvme/tls/tls_testing.h"

namespace forebay::nvme::tls {
namespace {

std::vector<std::byte> pattern(std::size_t size, unsigned seed) {
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i) {
    bytes[i] = static_cast<std::byte>((i * 31 + i / 251 + seed) & 0xFF);
  }
  return bytes;
}

iovec piece_of(std::vector<std::byte>& bytes) { return {bytes.data(), bytes.size()}; }

void expect_failed(const Session& session, Errc code, std::string_view why) {
  EXPECT_EQ(session.state(), SessionState::kFailed);
  EXPECT_EQ(session.error().code, code);
  EXPECT_NE(std::string_view(session.error().what).find(why), std::string_view::npos)
      << session.error().what;
}

TEST(TlsSession, EveryKeyIdentityAndDerivationServes) {
  for (const auto line : {kPlainKey32, kBoundKey32, kPlainKey48, kBoundKey48}) {
    for (const auto version : {IdentityVersion::kNames, IdentityVersion::kDigest}) {
      for (const Derivation derivation : kDerivations) {
        SessionPair pair(test_psk(line, version, derivation), line);
        pair.settle();
        ASSERT_TRUE(pair.ready()) << line << " " << pair.controller->detail();
        EXPECT_EQ(pair.controller->psk().derivation, derivation);
        EXPECT_EQ(pair.controller->psk().identity, pair.host->psk().identity);
        auto data = pattern(1000, 1);
        const iovec piece = piece_of(data);
        EXPECT_EQ(pair.send(*pair.host, *pair.controller, {&piece, 1}), data);
      }
    }
  }
}

class TlsSessionSplit : public testing::TestWithParam<std::size_t> {};

TEST_P(TlsSessionSplit, BytesArriveAsTheyWereSentHoweverTheyAreCut) {
  SessionPair pair(test_psk(), kBoundKey32, GetParam());
  pair.settle();
  ASSERT_TRUE(pair.ready()) << pair.host->detail() << pair.controller->detail();
  const std::size_t most = GetParam() < 64 ? 20'000 : 300'000;
  auto head = pattern(24, 1);
  auto data = pattern(most, 2);
  auto tail = pattern(4, 3);
  const iovec pieces[]{piece_of(head), piece_of(data), piece_of(tail)};
  std::vector<std::byte> all = head;
  all.insert(all.end(), data.begin(), data.end());
  all.insert(all.end(), tail.begin(), tail.end());
  EXPECT_EQ(pair.send(*pair.host, *pair.controller, pieces), all);
  EXPECT_EQ(pair.send(*pair.controller, *pair.host, pieces), all);
}

INSTANTIATE_TEST_SUITE_P(All, TlsSessionSplit,
                         testing::Values(1, 2, 3, 5, 6, 7, 64, 1000, 16'384, 16'406, 65'536));

TEST(TlsSession, AnotherKeyIsRefusedOnBothSides) {
  SessionPair pair(test_psk(kPlainKey32, IdentityVersion::kNames), kBoundKey32);
  pair.settle();
  expect_failed(*pair.controller, Errc::kDenied, "holds another key");
  expect_failed(*pair.host, Errc::kDenied, "holds another TLS key");
}

// Hellos that tests/interop/nvme_tls_seeds.py makes without OpenSSL, with binders of its own.
TEST(TlsSession, TakesTheHelloOfAnotherImplementation) {
  for (const char* size : {"32", "48"}) {
    for (const char* rest : {"_0_spec", "_0_compat", "_1_spec", "_1_compat"}) {
      const std::string name = std::string("hello_") + size + rest;
      std::ifstream file(FOREBAY_SOURCE_DIR "/tests/fuzz/nvme_tls_fuzz/" + name, std::ios::binary);
      const std::string hello{std::istreambuf_iterator<char>(file), {}};
      ASSERT_GT(hello.size(), 100U) << name;
      SessionPair pair(test_psk(), size[0] == '3' ? kBoundKey32 : kBoundKey48);
      std::memcpy(pair.controller->receive_place().data(), hello.data() + 1, hello.size() - 1);
      pair.controller->received(hello.size() - 1);
      EXPECT_EQ(pair.controller->state(), SessionState::kHandshaking) << name;
      ASSERT_GT(pair.controller->output().size(), 100U) << name;
      EXPECT_EQ(pair.controller->output()[0], kHandshakeRecord) << "a server's hello, no alert";
      EXPECT_EQ(to_string(pair.controller->psk().derivation),
                std::string_view(rest).ends_with("spec") ? "spec" : "compat");
    }
  }
}

TEST(TlsSession, AnIdentityThatIsNotKnownIsNamed) {
  SessionPair pair(test_psk(kPlainKey32, IdentityVersion::kDigest), kBoundKey32);
  const std::string identity = pair.host->psk().identity;
  pair.settle();
  expect_failed(*pair.controller, Errc::kDenied, "no key fits");
  EXPECT_EQ(pair.controller->detail(), identity);
  expect_failed(*pair.host, Errc::kDenied, "has no TLS key for this host");
}

TEST(TlsSession, WhatIsNoTlsIsNamedAtItsFirstByte) {
  for (const bool server : {false, true}) {
    const auto session = server
                             ? Session::accept([](std::string_view) { return std::vector<Psk>{}; })
                             : Session::connect(test_psk());
    session->receive_place()[0] = std::byte{0};
    session->received(1);
    expect_failed(*session, Errc::kVersion, server ? "does not begin with TLS" : "not speak TLS");
  }
}

TEST(TlsSession, AnEndThatIsNotAnnouncedIsACut) {
  SessionPair pair(test_psk());
  pair.settle();
  ASSERT_TRUE(pair.ready());
  pair.host->receive_ended();
  expect_failed(*pair.host, Errc::kGone, "cut");
  const auto early = Session::connect(test_psk());
  early->receive_ended();
  expect_failed(*early, Errc::kGone, "expects plain NVMe/TCP");
}

TEST(TlsSession, AnAnnouncedEndIsOne) {
  SessionPair pair(test_psk());
  pair.settle();
  pair.host->close();
  pair.settle();
  std::byte place{};
  const iovec one{&place, 1};
  EXPECT_EQ(pair.controller->read({&one, 1}), 0U);
  EXPECT_EQ(pair.controller->state(), SessionState::kEnded);
  pair.controller->receive_ended();
  EXPECT_EQ(pair.controller->state(), SessionState::kEnded);
}

TEST(TlsSession, ARecordThatWasChangedEndsIt) {
  SessionPair pair(test_psk());
  pair.settle();
  auto data = pattern(100, 1);
  const iovec piece = piece_of(data);
  ASSERT_EQ(pair.host->write({&piece, 1}), data.size());
  const auto output = pair.host->output();
  const auto place = pair.controller->receive_place();
  std::ranges::copy(output, place.begin());
  place[output.size() - 1] ^= std::byte{1};
  pair.controller->received(output.size());
  EXPECT_EQ(pair.controller->read({&piece, 1}), 0U);
  expect_failed(*pair.controller, Errc::kCorrupt, "damaged");
  EXPECT_FALSE(pair.controller->output().empty()) << "an alert says why";
}

TEST(TlsSession, KeysAreRenewedWhileDataGoesOn) {
  SessionPair pair(test_psk(kBoundKey48), kBoundKey48);
  pair.settle();
  ASSERT_TRUE(pair.ready());
  pair.host->set_records_per_key(3);
  auto data = pattern(400'000, 5);
  const iovec piece = piece_of(data);
  EXPECT_EQ(pair.send(*pair.host, *pair.controller, {&piece, 1}), data);
  EXPECT_GE(pair.host->key_updates_sent(), 7U);
  EXPECT_EQ(pair.send(*pair.controller, *pair.host, {&piece, 1}), data);
  pair.controller->update_keys();
  EXPECT_EQ(pair.send(*pair.controller, *pair.host, {&piece, 1}), data);
  EXPECT_EQ(pair.send(*pair.host, *pair.controller, {&piece, 1}), data);
}

// A peer that asks for new keys and reads nothing gets no memory by it.
TEST(TlsSession, RequestsForNewKeysHaveABound) {
  SessionPair pair(test_psk());
  pair.settle();
  std::byte place{};
  const iovec one{&place, 1};
  for (int i = 0; i < 100'000 && pair.controller->state() == SessionState::kReady; ++i) {
    pair.host->update_keys();
    pair.carry(*pair.host, *pair.controller);
    (void)pair.controller->read({&one, 1});
  }
  EXPECT_EQ(pair.controller->state(), SessionState::kFailed);
  EXPECT_LE(pair.controller->output().size(), kCipherOutputBytes + kControlOutputBytes);
}

TEST(TlsSession, AHelloWithoutEndHasABound) {
  const auto session = Session::accept([](std::string_view) { return std::vector<Psk>{}; });
  // A record that says that it has 16,384 bytes, of a hello that says that it has 65,535.
  std::vector<std::byte> bytes(64 * 1024);
  const unsigned char head[]{0x16, 3, 1, 0x40, 0, 1, 0, 0xFF, 0xFF};
  std::memcpy(bytes.data(), head, sizeof head);
  std::memcpy(bytes.data() + 5 + 0x4000, head, 5);
  std::size_t at = 0;
  while (at < bytes.size() && session->state() == SessionState::kHandshaking) {
    const auto place = session->receive_place();
    const std::size_t size = std::min({place.size(), std::size_t{1000}, bytes.size() - at});
    std::memcpy(place.data(), bytes.data() + at, size);
    session->received(size);
    at += size;
  }
  expect_failed(*session, Errc::kInvalid, "longer than any sound one");
}

}  // namespace
}  // namespace forebay::nvme::tls
