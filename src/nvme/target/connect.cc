#include "nvme/target/connect.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "core/bytes.h"

namespace forebay::nvme::target {
namespace {

using Outcome = std::expected<ConnectedQueue, ConnectRefusal>;

// Offsets of fields, as a refusal names them.
constexpr std::uint32_t kQueueIdAt = 42;
constexpr std::uint32_t kQueueSizeAt = 44;
constexpr std::uint32_t kInData = 1U << 16;
constexpr std::uint32_t kControllerIdAt = kInData | 16;
constexpr std::uint32_t kSubsystemNqnAt = kInData | 256;
constexpr std::uint32_t kHostNqnAt = kInData | 512;

Outcome bad_parameter(std::uint32_t offset) {
  return std::unexpected(ConnectRefusal{refuse(StatusCode::kConnectInvalidParameters), offset});
}

Outcome busy() { return std::unexpected(ConnectRefusal{retry_later(StatusCode::kConnectBusy)}); }

Outcome connect_admin(Subsystem& subsystem, const ConnectFields& fields, const ConnectData& asked,
                      const HostIdentity& host) {
  if (asked.controller_id != 0xFFFF) return bad_parameter(kControllerIdAt);
  // What the host's last controller still has at a device must not overtake what it sends now.
  if (subsystem.has_dying_controller(host)) return busy();
  auto controller = subsystem.make_controller(host);
  if (controller == nullptr) return busy();
  const bool unlimited = fields.keep_alive_ms == 0 && controller->discovery();
  controller->set_keep_alive(unlimited ? kDiscoveryKeepAliveMs : fields.keep_alive_ms);
  ConnectedQueue queue;
  queue.controller = std::move(controller);
  return queue;
}

Outcome connect_io(const Subsystem& subsystem, const ConnectFields& fields,
                   const ConnectData& asked, const HostIdentity& host) {
  auto controller = subsystem.find_controller(asked.controller_id);
  if (controller == nullptr || controller->dying() || controller->host() != host) {
    return bad_parameter(kControllerIdAt);
  }
  if (controller->state() != ControllerState::kReady || controller->discovery()) {
    return bad_parameter(kQueueIdAt);
  }
  // The old queue of a host that reconnects fast may not be gone yet.
  if (controller->has_queue(fields.queue_id)) return busy();
  if (!controller->take_queue(fields.queue_id)) return bad_parameter(kQueueIdAt);
  ConnectedQueue queue;
  queue.controller = std::move(controller);
  queue.queue_id = fields.queue_id;
  return queue;
}

// Null: the channel is what this host must use, and its own.
const char* channel_fault(const Channel& channel, const tls::PskParties& claimed) {
  if (channel.proven != nullptr) {
    return *channel.proven == claimed ? nullptr : "its TLS key is of other names";
  }
  const bool has_key = channel.keys != nullptr && channel.keys->contains(claimed.host_nqn);
  return has_key ? "it has a TLS key and comes without TLS" : nullptr;
}

}  // namespace

std::string name_of(const std::array<char, kNqnBytes>& field) {
  const auto end = std::ranges::find(field, '\0');
  return end == field.end() ? std::string() : std::string(field.begin(), end);
}

Outcome connect_queue(const Subsystems& subsystems, const ConnectRequest& request) {
  const auto fields = fields_of<ConnectFields>(request.sqe);
  if (fields.format != 0)
    return std::unexpected(ConnectRefusal{refuse(StatusCode::kConnectFormat)});
  const auto asked = load_as<ConnectData>(request.data);
  const std::string name = name_of(asked.subsystem_nqn);
  const auto found = std::ranges::find_if(
      subsystems, [&name](const auto& subsystem) { return subsystem->nqn() == name; });
  if (found == subsystems.end()) return bad_parameter(kSubsystemNqnAt);
  Subsystem& subsystem = **found;
  const HostIdentity host{asked.host_id, name_of(asked.host_nqn)};
  if (host.nqn.empty()) return bad_parameter(kHostNqnAt);
  if (!subsystem.hosts.admits(host.nqn)) {
    return std::unexpected(ConnectRefusal{refuse(StatusCode::kConnectInvalidHost)});
  }
  if (const char* why = channel_fault(request.channel, {host.nqn, name})) {
    return std::unexpected(ConnectRefusal{refuse(StatusCode::kConnectInvalidHost), 0, why});
  }
  // From 0; a queue of one entry could never hold a command.
  if (fields.queue_size == 0 || fields.queue_size >= subsystem.limits().queue_size_max) {
    return bad_parameter(kQueueSizeAt);
  }
  Outcome outcome = fields.queue_id == 0 ? connect_admin(subsystem, fields, asked, host)
                                         : connect_io(subsystem, fields, asked, host);
  if (!outcome) return outcome;
  outcome->entries = static_cast<std::uint16_t>(fields.queue_size + 1);
  outcome->flow_control = (fields.attributes & kConnectNoFlowControl) == 0;
  outcome->controller->note_life(request.now);
  return outcome;
}

}  // namespace forebay::nvme::target
