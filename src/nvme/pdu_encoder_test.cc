// What is sent, byte for byte: literals by tests/interop/nvme_pdus.py, which was written from the
// NVMe TCP Transport Specification 1.0, 3.6.2, and shares no code with the encoder.
#include "nvme/pdu_encoder.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "core/bytes.h"
#include "nvme/test_pdus.h"

namespace forebay::nvme {
namespace {

constexpr SendFormat kPlain{};
constexpr SendFormat kBothDigests{.digests = {.header = true, .data = true}};

// A write of one block at LBA 5, as in the samples.
Sqe write_command(Sgl sgl) {
  Sqe sqe;
  sqe.opcode = static_cast<std::uint8_t>(IoOpcode::kWrite);
  sqe.flags = kFlagsSgl;
  sqe.command_id = 7;
  sqe.namespace_id = 1;
  sqe.sgl = sgl;
  sqe.dwords10[0] = 5;
  return sqe;
}

TEST(PduEncoder, IcPdusHold128BytesAndTheirFieldsWhere3622And3623PutThem) {
  EXPECT_EQ(hex(encode_ic_request({.digests = 3}).bytes()),
            "00008000800000000000000300000000" + std::string(224, '0'));
  EXPECT_EQ(hex(encode_ic_response({.digests = 3, .host_data_bytes_max = 131072}).bytes()),
            "01008000800000000000000300000200" + std::string(224, '0'));
}

TEST(PduEncoder, ACommandWithoutDataIs72Bytes3626) {
  const auto sqe = write_command({.length_bytes = 4096, .type = kSglTransport});
  EXPECT_EQ(
      hex(encode_command(sqe, 0, kPlain).bytes()),
      "0400480048000000014007000100000000000000000000000000000000000000000000000000000000100000"
      "0000005a050000000000000000000000000000000000000000000000");
}

TEST(PduEncoder, ACapsuleWithDataSaysWhereItBeginsAndCarriesBothDigests) {
  const auto sqe = write_command({.length_bytes = 64, .type = kSglInCapsule});
  EXPECT_EQ(
      hex(encode_command(sqe, 64, kBothDigests).bytes()),
      "0403484c90000000014007000100000000000000000000000000000000000000000000000000000040000000"
      "000000010500000000000000000000000000000000000000000000005d07ac4d");
}

TEST(PduEncoder, AResponseCarriesResultHeadIdAndStatus3627) {
  const Cqe cqe{.result = 0x1122334455667788,
                .queue_head = 3,
                .command_id = 7,
                .status = refuse(StatusCode::kInvalidField).wire()};
  // Do not retry is the highest bit, the code stands above the phase bit.
  EXPECT_EQ(hex(encode_response(cqe, {.digests = {.header = true}}).bytes()),
            "050118001c000000887766554433221103000000070004807282baa9");
}

TEST(PduEncoder, DataBeginsAtThePeersAlignment3628And3629) {
  DataPdu pdu{.command_id = 7, .transfer_tag = 9, .data_offset = 4096, .data_bytes = 64};
  EXPECT_EQ(hex(encode_data(PduType::kHostData, kFlagLast, pdu, kPlain).bytes()),
            "060418185800000007000900001000004000000000000000");
  pdu = {.command_id = 7, .data_bytes = 64};
  SendFormat aligned = kBothDigests;
  aligned.data_align_bytes = 64;
  EXPECT_EQ(
      hex(encode_data(PduType::kControllerData, kFlagLast | kFlagSuccess, pdu, aligned).bytes()),
      "070f184084000000070000000000000040000000000000006cfc1bf9" + std::string(72, '0'));
}

TEST(PduEncoder, ReadyToTransferNamesTheRangeItWants36210) {
  const ReadyToTransfer pdu{
      .command_id = 7, .transfer_tag = 9, .data_offset = 4096, .data_bytes = 8192};
  EXPECT_EQ(hex(encode_ready(pdu, kPlain).bytes()),
            "090018001800000007000900001000000020000000000000");
}

TEST(PduEncoder, ATerminateRequestQuotesTheRefusedHeader3625) {
  const auto refused = bytes_from_hex("0500180018000000");
  EXPECT_EQ(hex(encode_terminate(PduType::kControllerTerminate, TerminateReason::kInvalidField,
                                 0x10004, refused)
                    .bytes()),
            "0300180020000000010004000100000000000000000000000500180018000000");
  const std::vector<std::byte> long_header(200);
  EXPECT_EQ(
      encode_terminate(PduType::kControllerTerminate, TerminateReason::kSequence, 0, long_header)
          .size(),
      kTerminateBytesMax);
}

}  // namespace
}  // namespace forebay::nvme
