// Fabrics Connect (Base Specification 2.0, 6.3): from a command and its 1,024 bytes to a queue of a
// controller, or a refusal that names the field. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <expected>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "nvme/target/controller.h"
#include "nvme/tls/host_keys.h"

namespace forebay::nvme::target {

using Subsystems = std::vector<std::unique_ptr<Subsystem>>;

// A name ends with a zero byte within its field; without one it is "".
[[nodiscard]] std::string name_of(const std::array<char, kNqnBytes>& field);

struct ConnectedQueue {
  std::shared_ptr<Controller> controller;
  std::uint16_t queue_id = 0;
  std::uint16_t entries = 0;
  bool flow_control = true;  // completions tell how far the submission queue was read
};

// How the host came: of TLS, the names that its key is bound to.
struct Channel {
  const tls::PskParties* proven = nullptr;  // null: plain
  const tls::HostKeys* keys = nullptr;      // whoever has one of these must use it; null: none has
};

struct ConnectRequest {
  const Sqe& sqe;
  std::span<const std::byte> data;
  Nanos now;
  Channel channel = {};
};

struct ConnectRefusal {
  CommandStatus status;
  // Of kConnectInvalidParameters: the field's offset; bit 16: in the data, else in the command.
  std::uint32_t result = 0;
  const char* why = nullptr;  // where the status does not say it
};

[[nodiscard]] std::expected<ConnectedQueue, ConnectRefusal> connect_queue(
    const Subsystems& subsystems, const ConnectRequest& request);

// What a discovery controller gets when its host asks for no keep-alive: a host that has read the
// log and gone must not stay.
inline constexpr std::uint32_t kDiscoveryKeepAliveMs = 120'000;

}  // namespace forebay::nvme::target
