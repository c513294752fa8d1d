// I/O commands against the namespace's bounds (NVM Command Set 1.0, section 3).
#include "nvme/target/io_plan.h"

#include <gtest/gtest.h>

#include "nvme/target/sgl_use.h"

namespace forebay::nvme::target {
namespace {

constexpr IoLimits kLimits{.block_bytes = 4096, .block_count = 1000, .command_bytes_max = 1 << 20};

Sqe command(IoOpcode opcode, std::uint64_t first, std::uint32_t count) {
  Sqe sqe;
  sqe.opcode = static_cast<std::uint8_t>(opcode);
  sqe.flags = kFlagsSgl;
  sqe.dwords10[0] = static_cast<std::uint32_t>(first);
  sqe.dwords10[1] = static_cast<std::uint32_t>(first >> 32);
  sqe.dwords10[2] = count - 1;
  return sqe;
}

CommandStatus status_of(const Sqe& sqe, const IoLimits& limits = kLimits) {
  const auto plan = plan_io(sqe, limits);
  return plan ? kDone : plan.error();
}

TEST(IoPlan, ARangeIsBytesOfTheDevice) {
  const auto plan = plan_io(command(IoOpcode::kRead, 10, 8), kLimits);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->offset_bytes, 40960U);
  EXPECT_EQ(plan->length_bytes, 32768U);
  EXPECT_EQ(plan->data_bytes, 32768U);
  EXPECT_FALSE(plan->durable);
}

TEST(IoPlan, TheLastBlockIsInAndTheNextIsOut) {
  EXPECT_TRUE(status_of(command(IoOpcode::kWrite, 999, 1)).ok());
  const CommandStatus beyond = refuse(StatusCode::kLbaOutOfRange);
  EXPECT_EQ(status_of(command(IoOpcode::kWrite, 999, 2)), beyond);
  EXPECT_EQ(status_of(command(IoOpcode::kRead, 1000, 1)), beyond);
  // SLBA + NLB overflows 64 bits.
  EXPECT_EQ(status_of(command(IoOpcode::kRead, ~0ULL, 2)), beyond);
}

TEST(IoPlan, ForceUnitAccessMakesAWriteDurable) {
  Sqe sqe = command(IoOpcode::kWrite, 0, 1);
  sqe.dwords10[2] |= 1U << 30;
  EXPECT_TRUE(plan_io(sqe, kLimits)->durable);
}

TEST(IoPlan, RefusesMoreThanTheLargestTransfer) {
  EXPECT_TRUE(status_of(command(IoOpcode::kRead, 0, 256)).ok());
  EXPECT_EQ(status_of(command(IoOpcode::kRead, 0, 257)), refuse(StatusCode::kInvalidField));
}

TEST(IoPlan, RefusesUnknownFusedAndWritesToWhatIsReadOnly) {
  Sqe sqe = command(IoOpcode::kRead, 0, 1);
  sqe.opcode = 0x55;
  EXPECT_EQ(status_of(sqe), refuse(StatusCode::kInvalidOpcode));
  sqe = command(IoOpcode::kCompare, 0, 1);
  sqe.flags |= 1;
  EXPECT_EQ(status_of(sqe), refuse(StatusCode::kInvalidField));
  IoLimits read_only = kLimits;
  read_only.read_only = true;
  EXPECT_EQ(status_of(command(IoOpcode::kWrite, 0, 1), read_only),
            refuse(StatusCode::kNamespaceWriteProtected));
  EXPECT_TRUE(status_of(command(IoOpcode::kRead, 0, 1), read_only).ok());
}

TEST(IoPlan, DatasetManagementMovesItsRangesAndTouchesThemOnlyToDeallocate) {
  Sqe sqe;
  sqe.opcode = static_cast<std::uint8_t>(IoOpcode::kDatasetManagement);
  sqe.dwords10[0] = 2;  // three ranges
  EXPECT_EQ(plan_io(sqe, kLimits)->data_bytes, 48U);
  EXPECT_EQ(plan_io(sqe, kLimits)->length_bytes, 0U);
  sqe.dwords10[1] = 4;
  EXPECT_EQ(plan_io(sqe, kLimits)->length_bytes, 48U);
}

Sqe with_sgl(std::uint8_t opcode, std::uint8_t type, std::uint32_t length,
             std::uint64_t address = 0) {
  Sqe sqe;
  sqe.opcode = opcode;
  sqe.flags = kFlagsSgl;
  sqe.sgl = {.address = address, .length_bytes = length, .type = type};
  return sqe;
}

constexpr std::uint32_t kMost = 1 << 20;

TEST(SglUse, TheLowestOpcodeBitsTellTheDirection) {
  EXPECT_EQ(data_direction(with_sgl(0x01, 0, 0)), DataDirection::kFromHost);
  EXPECT_EQ(data_direction(with_sgl(0x02, 0, 0)), DataDirection::kToHost);
  EXPECT_EQ(data_direction(with_sgl(0x08, 0, 0)), DataDirection::kNone);
  Sqe connect = with_sgl(kFabricsOpcode, 0, 0);
  connect.namespace_id = 1;
  EXPECT_EQ(data_direction(connect), DataDirection::kFromHost);
  connect.namespace_id = 4;
  EXPECT_EQ(data_direction(connect), DataDirection::kNone);
}

TEST(SglUse, DataIsInTheCapsuleOrTransferred) {
  const SglUse inside = check_sgl(with_sgl(0x01, kSglInCapsule, 4096), 4096, kMost);
  EXPECT_TRUE(inside.status.ok() && inside.in_capsule);
  const SglUse outside = check_sgl(with_sgl(0x01, kSglTransport, 8192), 0, kMost);
  EXPECT_TRUE(outside.status.ok() && !outside.in_capsule);
  EXPECT_EQ(outside.data_bytes, 8192U);
}

TEST(SglUse, RefusesWhatDoesNotFitTheCommand) {
  const auto code = [](const Sqe& sqe, std::uint32_t capsule) {
    return check_sgl(sqe, capsule, kMost).status.code;
  };
  EXPECT_EQ(code(with_sgl(0x01, kSglInCapsule, 4096), 2048), StatusCode::kSglOffsetInvalid);
  EXPECT_EQ(code(with_sgl(0x01, kSglInCapsule, 4096, 64), 4096), StatusCode::kSglOffsetInvalid);
  EXPECT_EQ(code(with_sgl(0x02, kSglInCapsule, 4096), 0), StatusCode::kInvalidField);
  EXPECT_EQ(code(with_sgl(0x01, kSglTransport, 4096), 4096), StatusCode::kInvalidField);
  EXPECT_EQ(code(with_sgl(0x01, 0x40, 4096), 0), StatusCode::kSglTypeInvalid);
  EXPECT_EQ(code(with_sgl(0x01, kSglTransport, 0xFFFFFFFF), 0), StatusCode::kSglLengthInvalid);
  EXPECT_EQ(code(with_sgl(0x00, 0, 0), 16), StatusCode::kInvalidField);
  Sqe prp = with_sgl(0x01, kSglTransport, 4096);
  prp.flags = 0;
  EXPECT_EQ(code(prp, 0), StatusCode::kInvalidField);
}

}  // namespace
}  // namespace forebay::nvme::target
