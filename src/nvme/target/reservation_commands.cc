#include "nvme/target/reservation_commands.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <vector>

#include "core/bytes.h"
#include "nvme/data_page.h"

namespace forebay::nvme::target {
namespace {

constexpr std::uint32_t kActionMask = 7;

std::uint32_t action_of(const Sqe& sqe) { return sqe.dword(10) & kActionMask; }
bool ignores_key(const Sqe& sqe) { return (sqe.dword(10) & kIgnoreKey) != 0; }

std::optional<ReservationType> type_of(const Sqe& sqe) {
  const std::uint32_t type = (sqe.dword(10) >> kReservationTypeShift) & 0xFF;
  if (type < static_cast<std::uint32_t>(ReservationType::kWriteExclusive) ||
      type > static_cast<std::uint32_t>(ReservationType::kExclusiveAccessAll)) {
    return std::nullopt;
  }
  return static_cast<ReservationType>(type);
}

// CPTPL (bits 31:30) is taken and has no effect, as with Linux's target, whose hosts always ask for
// persistence; RESCAP and the report say that there is none.
CommandStatus run_register(const Controller& controller, Namespace& on, Exchange& exchange) {
  const std::uint32_t action = action_of(exchange.sqe);
  if (action > static_cast<std::uint32_t>(RegisterAction::kReplace)) {
    return refuse(StatusCode::kInvalidField);
  }
  return on.reservations->register_host(controller.host().id, static_cast<RegisterAction>(action),
                                        ignores_key(exchange.sqe),
                                        load_as<ReservationKeys>(exchange.in));
}

CommandStatus run_acquire(const Controller& controller, Namespace& on, Exchange& exchange) {
  const std::uint32_t action = action_of(exchange.sqe);
  const auto type = type_of(exchange.sqe);
  if (action > static_cast<std::uint32_t>(AcquireAction::kPreemptAndAbort) || !type ||
      ignores_key(exchange.sqe)) {
    return refuse(StatusCode::kInvalidField);
  }
  return on.reservations->acquire(controller.host().id, static_cast<AcquireAction>(action), *type,
                                  load_as<ReservationKeys>(exchange.in));
}

CommandStatus run_release(const Controller& controller, Namespace& on, Exchange& exchange) {
  const std::uint32_t action = action_of(exchange.sqe);
  const bool clears = action == static_cast<std::uint32_t>(ReleaseAction::kClear);
  const auto type = type_of(exchange.sqe);  // Clear has none
  if (action > static_cast<std::uint32_t>(ReleaseAction::kClear) || (!type && !clears) ||
      ignores_key(exchange.sqe)) {
    return refuse(StatusCode::kInvalidField);
  }
  return on.reservations->release(controller.host().id, static_cast<ReleaseAction>(action),
                                  type.value_or(ReservationType::kNone),
                                  load_as<std::uint64_t>(exchange.in));
}

// An entry for each controller of each registrant; one that has none now is there all the same.
std::vector<ReservationEntry> entries(const Subsystem& subsystem, const Reservations& of) {
  std::vector<ReservationEntry> all;
  for (const auto& registrant : of.registrants()) {
    ReservationEntry entry;
    entry.status = of.holds(registrant.host) ? kHoldsReservation : 0;
    entry.key = registrant.key;
    entry.host_id = registrant.host;
    auto ids = subsystem.controllers_of(registrant.host);
    if (ids.empty()) ids.push_back(kNoController);
    for (const std::uint16_t id : ids) {
      entry.controller_id = id;
      all.push_back(entry);
    }
  }
  return all;
}

CommandStatus run_report(const Controller& controller, Namespace& on, Exchange& exchange) {
  const Reservations& reservations = *on.reservations;
  const auto all = entries(controller.subsystem(), reservations);
  ReservationReport header;
  header.generation = reservations.generation();
  header.type = reservations.type();
  header.registered = {static_cast<std::uint8_t>(all.size() & 0xFF),
                       static_cast<std::uint8_t>(all.size() >> 8)};
  std::vector<std::byte> bytes(sizeof header + all.size() * sizeof(ReservationEntry));
  std::memcpy(bytes.data(), &header, sizeof header);
  if (!all.empty()) {
    std::memcpy(bytes.data() + sizeof header, all.data(), all.size() * sizeof(ReservationEntry));
  }
  bytes.resize(std::max(bytes.size(), exchange.out.size()));  // zeroes behind the end
  std::memcpy(exchange.out.data(), bytes.data(), exchange.out.size());
  return kDone;
}

constexpr std::array<ReservationCommand, 4> kReservationCommandTable{{
    {IoOpcode::kReservationRegister, sizeof(ReservationKeys), run_register},
    {IoOpcode::kReservationReport, 0, run_report},
    {IoOpcode::kReservationAcquire, sizeof(ReservationKeys), run_acquire},
    {IoOpcode::kReservationRelease, sizeof(std::uint64_t), run_release},
}};

}  // namespace

std::span<const ReservationCommand> reservation_commands() { return kReservationCommandTable; }

const ReservationCommand* find_reservation_command(std::uint8_t opcode) {
  const auto found = std::ranges::find_if(kReservationCommandTable, [opcode](const auto& known) {
    return static_cast<std::uint8_t>(known.opcode) == opcode;
  });
  return found == kReservationCommandTable.end() ? nullptr : &*found;
}

CommandStatus check_reservation(const ReservationCommand& command, const Controller& controller,
                                const Sqe& sqe, std::uint32_t data_bytes) {
  if ((sqe.flags & kFlagsFuse) != 0) return refuse(StatusCode::kInvalidField);
  // An identifier of zeroes names no host (8.19).
  if (controller.host().id == HostId{}) return refuse(StatusCode::kSequenceError);
  if (command.opcode != IoOpcode::kReservationReport) {
    return data_bytes == command.data_bytes ? kDone : refuse(StatusCode::kSglLengthInvalid);
  }
  const std::uint64_t asked = (std::uint64_t{sqe.dword(10)} + 1) * 4;
  if (asked != data_bytes) return refuse(StatusCode::kSglLengthInvalid);
  const bool extended = (sqe.dword(11) & kExtendedReservationReport) != 0;
  return extended ? kDone : refuse(StatusCode::kHostIdFormat);
}

}  // namespace forebay::nvme::target
