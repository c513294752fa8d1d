#include "nvme/target/io_plan.h"

#include <algorithm>
#include <array>

namespace forebay::nvme::target {
namespace {

constexpr std::uint32_t kSupported = 1;      // CSUPP
constexpr std::uint32_t kChangesBlocks = 2;  // LBCC
constexpr std::uint32_t kForceUnitAccess = 1U << 30;
constexpr std::uint32_t kDeallocateBit = 1U << 2;  // AD, dword 11

constexpr std::array<IoCommand, 6> kIoCommands{{
    {IoOpcode::kFlush, IoKind::kFlush, kSupported, false},
    {IoOpcode::kWrite, IoKind::kWrite, kSupported | kChangesBlocks, true},
    {IoOpcode::kRead, IoKind::kRead, kSupported, false},
    {IoOpcode::kCompare, IoKind::kCompare, kSupported, false},
    {IoOpcode::kWriteZeroes, IoKind::kWriteZeroes, kSupported | kChangesBlocks, true},
    {IoOpcode::kDatasetManagement, IoKind::kDeallocate, kSupported | kChangesBlocks, true},
}};

// Reads, writes, compares and zeroes name their range alike: SLBA and NLB, which counts from 0.
std::expected<IoPlan, CommandStatus> plan_range(const Sqe& sqe, IoKind kind,
                                                const IoLimits& limits) {
  const std::uint64_t first = sqe.qword(10);
  const std::uint64_t count = (sqe.dword(12) & 0xFFFF) + 1;
  if (first >= limits.block_count || count > limits.block_count - first) {
    return std::unexpected(refuse(StatusCode::kLbaOutOfRange));
  }
  IoPlan plan;
  plan.kind = kind;
  plan.offset_bytes = first * limits.block_bytes;
  plan.length_bytes = count * limits.block_bytes;
  if (plan.length_bytes > limits.command_bytes_max) {
    return std::unexpected(refuse(StatusCode::kInvalidField));
  }
  if (kind != IoKind::kWriteZeroes) plan.data_bytes = static_cast<std::uint32_t>(plan.length_bytes);
  plan.durable = (sqe.dword(12) & kForceUnitAccess) != 0;
  return plan;
}

IoPlan plan_deallocate(const Sqe& sqe) {
  IoPlan plan;
  plan.kind = IoKind::kDeallocate;
  plan.data_bytes =
      ((sqe.dword(10) & 0xFF) + 1) * static_cast<std::uint32_t>(sizeof(DeallocateRange));
  // The other attributes are hints that need no work: no range is touched.
  plan.length_bytes = (sqe.dword(11) & kDeallocateBit) != 0 ? plan.data_bytes : 0;
  return plan;
}

}  // namespace

std::span<const IoCommand> io_commands() { return kIoCommands; }

std::expected<IoPlan, CommandStatus> plan_io(const Sqe& sqe, const IoLimits& limits) {
  const auto command = std::ranges::find_if(kIoCommands, [&sqe](const IoCommand& known) {
    return static_cast<std::uint8_t>(known.opcode) == sqe.opcode;
  });
  if (command == kIoCommands.end()) return std::unexpected(refuse(StatusCode::kInvalidOpcode));
  if ((sqe.flags & kFlagsFuse) != 0) return std::unexpected(refuse(StatusCode::kInvalidField));
  if (command->changes && limits.read_only) {
    return std::unexpected(refuse(StatusCode::kNamespaceWriteProtected));
  }
  if (command->kind == IoKind::kFlush) return IoPlan{};
  if (command->kind == IoKind::kDeallocate) return plan_deallocate(sqe);
  return plan_range(sqe, command->kind, limits);
}

}  // namespace forebay::nvme::target
