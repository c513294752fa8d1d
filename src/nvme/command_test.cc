// Commands, statuses and names against the Base Specification's figures.
#include "nvme/command.h"

#include <gtest/gtest.h>

#include "core/bytes.h"
#include "nvme/test_pdus.h"

namespace forebay::nvme {
namespace {

TEST(NvmeStatus, StandsAboveThePhaseBitWithDoNotRetryOnTop) {
  // Base Specification 2.0, figure 92: status field in bits 31:17 of dword 3; bit 16 is the phase.
  EXPECT_EQ(refuse(StatusCode::kInvalidField).wire(), 0x8004);
  EXPECT_EQ(retry_later(StatusCode::kConnectBusy).wire(), 0x0302);
  EXPECT_EQ(kDone.wire(), 0);
  EXPECT_EQ(CommandStatus::from_wire(0x8004), refuse(StatusCode::kInvalidField));
  EXPECT_EQ(CommandStatus::from_wire(0x0503), retry_later(StatusCode::kUnrecoveredRead));
}

TEST(NvmeStatus, HasANameOrItsNumber) {
  EXPECT_EQ(to_string(StatusCode::kLbaOutOfRange), "LBA Out of Range");
  EXPECT_EQ(to_string(static_cast<StatusCode>(0x1FF)), "status 0x1ff");
}

TEST(NvmeCommand, NamesComeByQueueAndFabricsType) {
  EXPECT_EQ(admin_command_name(0x06, 0), "Identify");
  EXPECT_EQ(io_command_name(0x02, 0), "Read");
  EXPECT_EQ(admin_command_name(0x7F, 0x01), "Connect");
  EXPECT_EQ(io_command_name(0x9F, 0), "opcode 0x9f");
}

TEST(NvmeCommand, ConnectFieldsStandInDwords10To12) {
  // Base Specification 2.0, 6.3: RECFMT 41:40, QID 43:42, SQSIZE 45:44, CATTR 46, KATO 51:48.
  auto bytes = bytes_from_hex("7f40010001" + std::string(2 * 35, '0') + "000003001f000400d0070000" +
                              std::string(24, '0'));
  ASSERT_EQ(bytes.size(), 64U);
  const auto sqe = load_as<Sqe>(bytes);
  EXPECT_EQ(sqe.fabrics_type(), 1);
  const auto fields = fields_of<ConnectFields>(sqe);
  EXPECT_EQ(fields.queue_id, 3);
  EXPECT_EQ(fields.queue_size, 31);
  EXPECT_EQ(fields.attributes, kConnectNoFlowControl);
  EXPECT_EQ(fields.keep_alive_ms, 2000U);
}

TEST(NvmeCommand, PropertyFieldsStandInDwords10To13) {
  Sqe sqe;
  set_fields(sqe, PropertyFields{.attributes = 1, .offset = 0x14, .value = 0x460061});
  EXPECT_EQ(sqe.dword(10), 1U);
  EXPECT_EQ(sqe.dword(11), 0x14U);
  EXPECT_EQ(sqe.qword(12), 0x460061U);
}

}  // namespace
}  // namespace forebay::nvme
