// Any reservation commands of four hosts, in any order: there is one holder, or all registrants
// are, and the report says what the state says.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "core/bytes.h"
#include "nvme/target/controller.h"
#include "nvme/target/reservation_commands.h"

namespace forebay::nvme::target {
namespace {

constexpr std::size_t kHosts = 4;
constexpr std::size_t kCommandBytes = 8;

void must(bool holds) {
  if (!holds) std::abort();
}

class Session {
 public:
  Session() {
    for (std::size_t i = 0; i < kHosts; ++i) {
      controllers_.push_back(subsystem_.make_controller({.id = {static_cast<std::byte>(i)}}));
    }
  }
  // Opcode, host, then dword 10, and two keys of a byte each.
  void run(std::span<const std::byte> bytes) {
    const Controller& host = *controllers_[std::to_integer<std::size_t>(bytes[1]) % kHosts];
    Exchange exchange;
    exchange.sqe.opcode = std::to_integer<std::uint8_t>(bytes[0]);
    exchange.sqe.dwords10[0] = load_as<std::uint32_t>(bytes.subspan(2));
    exchange.sqe.dwords10[1] = exchange.sqe.dwords10[0] >> 31;
    const auto* command = find_reservation_command(exchange.sqe.opcode);
    if (command == nullptr) return;
    ReservationKeys keys{std::to_integer<std::uint64_t>(bytes[6]) % 5,
                         std::to_integer<std::uint64_t>(bytes[7]) % 5};
    std::vector<std::byte> out(command->data_bytes == 0 ? 256 : 0);
    if (!out.empty()) exchange.sqe.dwords10[0] = 63;
    const std::uint32_t size = out.empty() ? command->data_bytes : 256;
    exchange.in = std::as_writable_bytes(std::span(&keys, 1)).first(command->data_bytes);
    exchange.out = out;
    if (!check_reservation(*command, host, exchange.sqe, size).ok()) return;
    (void)command->run(host, on_, exchange);
    check();
  }

 private:
  void check() const {
    const Reservations& state = *on_.reservations;
    const auto registrants = state.registrants();
    const auto holders = static_cast<std::size_t>(std::ranges::count_if(
        registrants, [&](const auto& known) { return state.holds(known.host); }));
    const bool all = state.type() >= ReservationType::kWriteExclusiveAll;
    const std::size_t due = all ? registrants.size() : 1;
    must(state.type() == ReservationType::kNone ? holders == 0 : holders == due && due > 0);
    must(registrants.size() < kHosts);  // the host of zeroes has no identity
    for (const auto& controller : controllers_) {
      const HostId& id = controller->host().id;
      if (state.holds(id)) must(state.admits(id, true) && state.admits(id, false));
      if (state.admits(id, true)) must(state.admits(id, false));
    }
  }

  Subsystem subsystem_{"nqn.2026-12.org.forebay:fuzz", SubsystemKind::kNvm, TargetLimits{}};
  Namespace on_;
  std::vector<std::shared_ptr<Controller>> controllers_;
};

}  // namespace
}  // namespace forebay::nvme::target

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using forebay::nvme::target::kCommandBytes;
  forebay::nvme::target::Session session;
  auto bytes = std::as_bytes(std::span(data, size));
  for (; bytes.size() >= kCommandBytes; bytes = bytes.subspan(kCommandBytes)) session.run(bytes);
  return 0;
}
