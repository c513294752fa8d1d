// The admin commands: one function each, named in the table of admin.cc (Base Specification 2.0,
// section 5). Pure: they read and change the controller alone.
#pragma once

#include <cstdint>
#include <span>

#include "nvme/target/controller.h"

namespace forebay::nvme::target {

struct AdminCommand {
  AdminOpcode opcode;
  bool discovery;  // a discovery controller has it too
  Progress (*run)(Controller& controller, Exchange& exchange);
};
[[nodiscard]] std::span<const AdminCommand> admin_commands();
[[nodiscard]] Progress run_admin(Controller& controller, Exchange& exchange);
// Property Get and Set, on the admin queue only (6.5, 6.6).
[[nodiscard]] Progress run_fabrics(Controller& controller, Exchange& exchange);

[[nodiscard]] Progress run_identify(Controller& controller, Exchange& exchange);
[[nodiscard]] Progress run_get_log_page(Controller& controller, Exchange& exchange);
[[nodiscard]] Progress run_set_features(Controller& controller, Exchange& exchange);
[[nodiscard]] Progress run_get_features(Controller& controller, Exchange& exchange);
[[nodiscard]] Progress run_async_event(Controller& controller, Exchange& exchange);
[[nodiscard]] Progress run_abort(Controller& controller, Exchange& exchange);
[[nodiscard]] Progress run_keep_alive(Controller& controller, Exchange& exchange);

// How a command ends at once.
inline Progress end_with(Exchange& exchange, CommandStatus status) {
  exchange.status = status;
  return Progress::kDone;
}

inline constexpr std::uint32_t kBroadcastNamespace = 0xFFFFFFFF;
// KAS: the keep-alive timer counts in so many 100 ms.
inline constexpr std::uint16_t kKeepAliveGranularity = 10;

}  // namespace forebay::nvme::target
