// Any text is a key or an identity that says itself the same way again, or none; any bytes end in a
// state of the session, within its memory; and what comes out of two that speak with each other is
// what went in, however it was cut, until a byte was changed.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

#include "nvme/tls/tls_testing.h"

namespace forebay::nvme::tls {
namespace {

constexpr std::size_t kOutputMax = kCipherOutputBytes + kControlOutputBytes;

void expect(bool condition) {
  if (!condition) std::abort();
}

void play_key(std::string_view text) {
  const auto key = TlsKey::parse(text);
  if (!key) return;
  const auto again = TlsKey::parse(key->text());
  expect(again.has_value() && again->text() == key->text());
  expect(text.find(key->text()) != std::string_view::npos);
  for (const Derivation derivation : kDerivations) {
    const auto psk = derive_psk(*key, kPskParties, IdentityVersion::kDigest, derivation);
    expect(psk.has_value() && psk->key.size() == key_bytes(key->hash()));
  }
}

void play_identity(std::string_view text) {
  const auto identity = parse_identity(text);
  if (!identity) return;
  expect(identity->parties.host_nqn.size() <= 223 && identity->parties.subsystem_nqn.size() <= 223);
  const HostKeys keys{{identity->parties.host_nqn, tls_key(kBoundKey32)}};
  for (const Psk& psk : find_psks(keys, text)) expect(psk.identity == text);
}

// In pieces of up to 1000 bytes; what it says goes nowhere.
void play_bytes(Session& session, std::span<const std::byte> input) {
  std::vector<std::byte> plain(4096);
  const iovec piece{plain.data(), plain.size()};
  while (!input.empty()) {
    const auto place = session.receive_place();
    expect(!place.empty());
    const std::size_t size = std::min({place.size(), input.size(), std::size_t{1000}});
    std::memcpy(place.data(), input.data(), size);
    session.received(size);
    input = input.subspan(size);
    while (session.read({&piece, 1}) != 0) {
    }
    expect(session.output().size() <= kOutputMax);
    expect(session.state() != SessionState::kReady);  // nobody here holds the key
  }
  session.receive_ended();
  expect(session.state() == SessionState::kFailed);
}

// One direction of a script: a counter's bytes go in, and must come out in order.
struct Flow {
  std::uint8_t next_in = 0;
  std::uint8_t next_out = 0;
  void write(Session& from, std::size_t size) {
    std::vector<std::byte> bytes(size);
    std::uint8_t at = next_in;
    for (std::byte& byte : bytes) byte = std::byte{at++};
    const iovec piece{bytes.data(), bytes.size()};
    const std::size_t taken = from.write({&piece, 1});
    next_in = static_cast<std::uint8_t>(next_in + taken);
  }
  void read(Session& to) {
    std::vector<std::byte> bytes(700);
    const iovec piece{bytes.data(), bytes.size()};
    while (const std::size_t size = to.read({&piece, 1})) {
      for (std::size_t i = 0; i < size; ++i) expect(bytes[i] == std::byte{next_out++});
    }
  }
};

void change_a_byte(Session& from, std::size_t at) {
  const auto output = from.output();
  if (output.empty()) return;
  const_cast<std::byte&>(output[at % output.size()]) ^= std::byte{1};  // the session's own memory
}

// Pairs of bytes: what is done, and how much of it.
void play_script(std::span<const std::byte> script) {
  SessionPair pair(test_psk(), kBoundKey32, 1 << 20);
  pair.settle();
  expect(pair.ready());
  Flow to_controller;
  Flow to_host;
  for (; script.size() >= 2; script = script.subspan(2)) {
    const auto amount = std::to_integer<std::size_t>(script[1]);
    switch (std::to_integer<unsigned>(script[0]) % 9) {
      case 0:
        to_controller.write(*pair.host, amount * 300);
        break;
      case 1:
        to_host.write(*pair.controller, amount * 300);
        break;
      case 2:
        pair.set_step(amount * amount + 1);
        pair.carry(*pair.host, *pair.controller);
        to_controller.read(*pair.controller);
        break;
      case 3:
        pair.set_step(amount * amount + 1);
        pair.carry(*pair.controller, *pair.host);
        to_host.read(*pair.host);
        break;
      case 4:
        pair.host->update_keys();
        break;
      case 5:
        pair.controller->update_keys();
        break;
      case 6:
        pair.host->close();
        break;
      case 7:
        pair.controller->close();
        break;
      default:
        change_a_byte(amount % 2 == 0 ? *pair.host : *pair.controller, amount * 7);
    }
    expect(pair.host->output().size() <= kOutputMax);
    expect(pair.controller->output().size() <= kOutputMax);
  }
}

}  // namespace
}  // namespace forebay::nvme::tls

// The first byte: a key, an identity, bytes for a controller, bytes for a host, a script.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace tls = forebay::nvme::tls;
  if (size == 0) return 0;
  const auto input = std::as_bytes(std::span(data, size)).subspan(1);
  const std::string_view text(reinterpret_cast<const char*>(input.data()), input.size());
  switch (data[0] % 5) {
    case 0:
      tls::play_key(text);
      break;
    case 1:
      tls::play_identity(text);
      break;
    case 2: {
      const tls::HostKeys keys{{tls::kPskParties.host_nqn, tls::tls_key(tls::kBoundKey32)}};
      const auto controller = tls::Session::accept(
          [&keys](std::string_view identity) { return tls::find_psks(keys, identity); });
      tls::play_bytes(*controller, input);
      break;
    }
    case 3:
      tls::play_bytes(*tls::Session::connect(tls::test_psk()), input);
      break;
    default:
      tls::play_script(input);
  }
  return 0;
}
