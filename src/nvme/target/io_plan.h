// An I/O command as what it asks of a device, checked against the namespace (NVM Command Set 1.0,
// section 3). Pure.
#pragma once

#include <cstdint>
#include <expected>
#include <span>

#include "nvme/command.h"

namespace forebay::nvme::target {

enum class IoKind : std::uint8_t { kRead, kWrite, kFlush, kCompare, kWriteZeroes, kDeallocate };

struct IoLimits {
  std::uint32_t block_bytes = 4096;
  std::uint64_t block_count = 0;
  std::uint32_t command_bytes_max = 0;  // MDTS and WZSL
  bool read_only = false;
};

struct IoPlan {
  IoKind kind = IoKind::kFlush;
  std::uint64_t offset_bytes = 0;
  std::uint64_t length_bytes = 0;
  std::uint32_t data_bytes = 0;  // that move between host and target
  bool durable = false;          // force unit access: flushed before it is answered
};

// One row a command that the target knows; its effects are those of log page 05h.
struct IoCommand {
  IoOpcode opcode;
  IoKind kind;
  std::uint32_t effects;
  bool changes;  // refused on a namespace that is read only
};
// Whether a reservation against writing keeps it out: Flush too is one of the write commands.
[[nodiscard]] constexpr bool is_write_group(IoKind kind) {
  return kind != IoKind::kRead && kind != IoKind::kCompare;
}
[[nodiscard]] std::span<const IoCommand> io_commands();

[[nodiscard]] std::expected<IoPlan, CommandStatus> plan_io(const Sqe& sqe, const IoLimits& limits);

}  // namespace forebay::nvme::target
