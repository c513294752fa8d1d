// How a command's data moves, by its opcode and its SGL (NVMe TCP Transport 1.0, 3.4.2). Pure.
#pragma once

#include <cstdint>

#include "nvme/command.h"

namespace forebay::nvme::target {

// The two lowest bits of an opcode, or of a Fabrics type, say it.
[[nodiscard]] DataDirection data_direction(const Sqe& sqe);

struct SglUse {
  CommandStatus status;  // not ok: the SGL does not fit the command
  DataDirection direction = DataDirection::kNone;
  bool in_capsule = false;
  std::uint32_t data_bytes = 0;
};
// `capsule_data_bytes` came with the command; `bytes_max` is the largest transfer (MDTS).
[[nodiscard]] SglUse check_sgl(const Sqe& sqe, std::uint32_t capsule_data_bytes,
                               std::uint32_t bytes_max);

}  // namespace forebay::nvme::target
