#include "nvme/target/admin.h"

#include <algorithm>
#include <array>

namespace forebay::nvme::target {
namespace {

constexpr std::array<AdminCommand, 7> kAdminCommands{{
    {AdminOpcode::kGetLogPage, true, run_get_log_page},
    {AdminOpcode::kIdentify, true, run_identify},
    {AdminOpcode::kAbort, false, run_abort},
    {AdminOpcode::kSetFeatures, true, run_set_features},
    {AdminOpcode::kGetFeatures, true, run_get_features},
    {AdminOpcode::kAsyncEvent, true, run_async_event},
    {AdminOpcode::kKeepAlive, true, run_keep_alive},
}};

Progress get_property(Controller& controller, Exchange& exchange) {
  std::uint64_t value = 0;
  if (!controller.get_property(fields_of<PropertyFields>(exchange.sqe), &value)) {
    return end_with(exchange, refuse(StatusCode::kInvalidField));
  }
  exchange.result = value;
  return end_with(exchange, kDone);
}

Progress set_property(Controller& controller, Exchange& exchange) {
  const bool known = controller.set_property(fields_of<PropertyFields>(exchange.sqe));
  return end_with(exchange, known ? kDone : refuse(StatusCode::kInvalidField));
}

}  // namespace

std::span<const AdminCommand> admin_commands() { return kAdminCommands; }

Progress run_admin(Controller& controller, Exchange& exchange) {
  const auto command = std::ranges::find_if(kAdminCommands, [&](const AdminCommand& known) {
    return static_cast<std::uint8_t>(known.opcode) == exchange.sqe.opcode &&
           (known.discovery || !controller.discovery());
  });
  if (command == kAdminCommands.end()) {
    return end_with(exchange, refuse(StatusCode::kInvalidOpcode));
  }
  // Before it is enabled a controller takes Fabrics commands only (3.5.1).
  if (controller.state() != ControllerState::kReady) {
    return end_with(exchange, refuse(StatusCode::kSequenceError));
  }
  return command->run(controller, exchange);
}

Progress run_fabrics(Controller& controller, Exchange& exchange) {
  switch (static_cast<FabricsType>(exchange.sqe.fabrics_type())) {
    case FabricsType::kPropertyGet:
      return get_property(controller, exchange);
    case FabricsType::kPropertySet:
      return set_property(controller, exchange);
    case FabricsType::kConnect:
      return end_with(exchange, refuse(StatusCode::kSequenceError));
    case FabricsType::kAuthSend:
    case FabricsType::kAuthReceive:
    case FabricsType::kDisconnect:
      break;
  }
  return end_with(exchange, refuse(StatusCode::kInvalidOpcode));
}

Progress run_keep_alive(Controller& controller, Exchange& exchange) {
  const bool on = controller.keep_alive_ms() != 0;
  return end_with(exchange, on ? kDone : refuse(StatusCode::kKeepAliveInvalid));
}

Progress run_async_event(Controller& controller, Exchange& exchange) {
  return controller.hold_event_request(exchange);
}

Progress run_abort(Controller& controller, Exchange& exchange) {
  const auto queue_id = static_cast<std::uint16_t>(exchange.sqe.dword(10) & 0xFFFF);
  const auto command_id = static_cast<std::uint16_t>(exchange.sqe.dword(10) >> 16);
  // Bit 0: not aborted. What a device has is not taken back; its answer comes anyway.
  exchange.result = controller.abort_command(queue_id, command_id) ? 0 : 1;
  return end_with(exchange, kDone);
}

}  // namespace forebay::nvme::target
