// The reservation commands of an I/O queue: one function each, named in a table (Base Specification
// 2.0, 7.2 to 7.5). Pure.
#pragma once

#include <cstdint>
#include <span>

#include "nvme/target/controller.h"

namespace forebay::nvme::target {

struct ReservationCommand {
  IoOpcode opcode;
  std::uint32_t data_bytes;  // that it must have; 0: as many as it asks for
  CommandStatus (*run)(const Controller& controller, Namespace& on, Exchange& exchange);
};
[[nodiscard]] std::span<const ReservationCommand> reservation_commands();
// Null: the opcode is of no reservation command.
[[nodiscard]] const ReservationCommand* find_reservation_command(std::uint8_t opcode);

// By the command alone, before its data moves.
[[nodiscard]] CommandStatus check_reservation(const ReservationCommand& command,
                                              const Controller& controller, const Sqe& sqe,
                                              std::uint32_t data_bytes);

}  // namespace forebay::nvme::target
