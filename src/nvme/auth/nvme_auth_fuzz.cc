// Any messages end in a state of the machine, and nobody is authenticated who failed; any text is a
// secret that writes itself the same way again, or none.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "core/bytes.h"
#include "nvme/auth/auth_testing.h"

namespace forebay::nvme::auth {
namespace {

void expect(bool condition) {
  if (!condition) std::abort();
}

// Messages behind their lengths; the last may be short.
class Script {
 public:
  explicit Script(std::span<const std::byte> bytes) : rest_(bytes) {}
  [[nodiscard]] bool empty() const { return rest_.size() < 2; }
  std::span<const std::byte> next() {
    const auto length = load_as<std::uint16_t>(rest_);
    rest_ = rest_.subspan(2);
    const auto message = rest_.first(std::min<std::size_t>(length, rest_.size()));
    rest_ = rest_.subspan(message.size());
    return message;
  }

 private:
  std::span<const std::byte> rest_;
};

void play_controller(const std::shared_ptr<const Credentials>& credentials, Script script) {
  ControllerSide side(credentials, kParties, pattern_source(0x90));
  while (!script.empty()) {
    side.received(script.next());
    expect(side.answer().size() <= kMessageBytesMax);
    const bool over =
        side.state() == ControllerState::kFailure1 || side.state() == ControllerState::kFailed;
    expect(!(over && side.authenticated()));
    if (!side.answer().empty()) side.answered();
    expect(side.answer().empty());
    expect(side.state() != ControllerState::kDone || side.authenticated());
  }
}

void play_host(const std::shared_ptr<const Credentials>& credentials, Script script) {
  HostSide side(credentials, kParties, 7, pattern_source(0x10));
  while (side.state() != HostState::kDone && side.state() != HostState::kFailed) {
    if (side.sends()) {
      expect(!side.message().empty() && side.message().size() <= kMessageBytesMax);
      side.sent();
    } else if (script.empty()) {
      return;
    } else {
      side.received(script.next());
    }
  }
}

void play_secret(std::string_view text) {
  const auto secret = Secret::parse(text);
  if (!secret) return;
  const auto again = Secret::parse(secret->text());
  expect(again.has_value() && again->text() == secret->text());
  expect(text.find(secret->text()) != std::string_view::npos);
}

}  // namespace
}  // namespace forebay::nvme::auth

// The first byte: bits 1:0 the part (controller, host, secret), bit 2 both prove themselves.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace auth = forebay::nvme::auth;
  if (size == 0) return 0;
  const auto input = std::as_bytes(std::span(data, size)).subspan(1);
  const auto credentials = auth::credentials_of(
      auth::kHostSecret, (data[0] & 4) != 0 ? auth::kControllerSecret : std::string_view{});
  switch (data[0] & 3) {
    case 0:
      auth::play_controller(credentials, auth::Script(input));
      break;
    case 1:
      auth::play_host(credentials, auth::Script(input));
      break;
    default:
      auth::play_secret({reinterpret_cast<const char*>(input.data()), input.size()});
  }
  return 0;
}
