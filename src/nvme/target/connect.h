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

struct ConnectRefusal {
  CommandStatus status;
  // Of kConnectInvalidParameters: the field's offset; bit 16: in the data, else in the command.
  std::uint32_t result = 0;
};

[[nodiscard]] std::expected<ConnectedQueue, ConnectRefusal> connect_queue(
    const Subsystems& subsystems, const Sqe& sqe, std::span<const std::byte> connect_data,
    Nanos now);

// What a discovery controller gets when its host asks for no keep-alive: a host that has read the
// log and gone must not stay.
inline constexpr std::uint32_t kDiscoveryKeepAliveMs = 120'000;

}  // namespace forebay::nvme::target
