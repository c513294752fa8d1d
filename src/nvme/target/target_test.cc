// The target over sockets, against a host that is written for it: every segment is of random size
// and time is the simulator's.
#include "nvme/target/target.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "nvme/target/target_testing.h"

namespace forebay::nvme::target {
namespace {

TEST_F(TargetTest, AnswersIcRequestWithWhatLinuxAccepts) {
  auto made = host();
  const auto answer = made->negotiate({.header = true, .data = true}).as<IcResponse>();
  EXPECT_EQ(answer.format, 0);
  EXPECT_EQ(answer.data_align, 0);
  EXPECT_EQ(answer.digests, 3);
  EXPECT_GE(answer.host_data_bytes_max, 4096U);
  EXPECT_EQ(answer.host_data_bytes_max % 4, 0U);
}

class TargetDigests : public TargetTest, public testing::WithParamInterface<int> {
 protected:
  [[nodiscard]] static Digests digests() {
    return digests_of(static_cast<std::uint8_t>(GetParam()));
  }
};

TEST_P(TargetDigests, WhatIsWrittenInACapsuleOrByTransferIsReadBack) {
  const auto control = admin(digests());
  const auto queue = io_queue(digests());
  const auto small = pattern(16384, 1);
  queue->command(io_command(IoOpcode::kWrite, 3, 4), small);
  EXPECT_TRUE(status_of(queue->receive()).ok());
  const auto large = pattern(1 << 20, 2);
  EXPECT_TRUE(write_by_r2t(*queue, 100, large, 65536).ok());
  const auto odd = pattern(5 * kBlock, 3);
  EXPECT_TRUE(write_by_r2t(*queue, 500, odd, 4100).ok());
  EXPECT_EQ(read_back(*queue, 3, 4), small);
  EXPECT_EQ(read_back(*queue, 100, 256), large);
  EXPECT_EQ(read_back(*queue, 500, 5), odd);
}

INSTANTIATE_TEST_SUITE_P(All, TargetDigests, testing::Range(0, 4));

TEST_F(TargetTest, WithFlowControlEveryReadHasItsResponse) {
  const auto control = admin();
  const auto queue = io_queue({}, 8, 0);
  queue->command(io_command(IoOpcode::kRead, 0, 1));
  const ReceivedPdu data = queue->receive();
  EXPECT_EQ(data.as<CommonHeader>().flags, kFlagLast);
  const ReceivedPdu response = queue->receive();
  EXPECT_TRUE(status_of(response).ok());
  EXPECT_EQ(response.as<ResponseCapsule>().cqe.queue_head, 2);  // Connect and this
}

TEST_F(TargetTest, DataBeginsAtTheHostsAlignment) {
  const auto control = admin();
  auto queue = host();
  queue->negotiate({}, 31);
  const ConnectFields fields{.queue_id = 1, .queue_size = 7, .attributes = kConnectNoFlowControl};
  ASSERT_EQ(queue->connect(kNqn, fields, controller_).status, 0);
  queue->command(io_command(IoOpcode::kRead, 0, 1));
  EXPECT_EQ(queue->receive().as<CommonHeader>().data_offset, 128);
}

TEST_F(TargetTest, AWrongDataDigestFailsThatCommandAlone) {
  const Digests data_only{.data = true};
  const auto control = admin(data_only);
  const auto queue = io_queue(data_only);
  const auto block = pattern(kBlock, 4);
  queue->spoil_data_digest = 1;
  queue->command(io_command(IoOpcode::kWrite, 0, 1), block);
  EXPECT_EQ(status_of(queue->receive()), retry_later(StatusCode::kTransientTransport));
  EXPECT_EQ(write_by_r2t(*queue, 0, block, kBlock), retry_later(StatusCode::kTransientTransport));
  queue->spoil_data_digest = 0;
  EXPECT_EQ(read_back(*queue, 0, 1), std::vector<std::byte>(kBlock));
}

TEST_F(TargetTest, FlushZeroesCompareAndDeallocateDoWhatTheySay) {
  const auto control = admin();
  const auto queue = io_queue();
  const auto block = pattern(2 * kBlock, 5);
  ASSERT_TRUE(write_by_r2t(*queue, 10, block, kBlock).ok());
  Sqe flush;
  flush.namespace_id = 1;
  queue->command(flush);
  EXPECT_TRUE(status_of(queue->receive()).ok());
  queue->command(io_command(IoOpcode::kCompare, 10, 2), block);
  EXPECT_TRUE(status_of(queue->receive()).ok());
  Sqe zeroes = io_command(IoOpcode::kWriteZeroes, 11, 1);
  zeroes.sgl.length_bytes = 0;
  queue->command(zeroes);
  EXPECT_TRUE(status_of(queue->receive()).ok());
  queue->command(io_command(IoOpcode::kCompare, 10, 2), block);
  EXPECT_EQ(status_of(queue->receive()), refuse(StatusCode::kCompareFailure));
  const DeallocateRange beyond{.block_count = 1, .first_block = 64 * kMiB / kBlock};
  Sqe deallocate;
  deallocate.opcode = static_cast<std::uint8_t>(IoOpcode::kDatasetManagement);
  deallocate.namespace_id = 1;
  deallocate.dwords10[1] = 4;
  queue->command(deallocate, bytes_of(beyond));
  EXPECT_EQ(status_of(queue->receive()), refuse(StatusCode::kLbaOutOfRange));
}

TEST_F(TargetTest, ARefusedCommandWithDataLeavesTheStreamInStep) {
  const auto control = admin();
  const auto queue = io_queue();
  const auto block = pattern(kBlock, 6);
  Sqe unknown = io_command(IoOpcode::kWrite, 0, 1);
  unknown.namespace_id = 9;
  queue->command(unknown, block);
  EXPECT_EQ(status_of(queue->receive()), refuse(StatusCode::kInvalidNamespace));
  // NLB says two blocks, the SGL one (pitfall: NLB larger than the SGL's length).
  Sqe longer = io_command(IoOpcode::kWrite, 0, 2);
  longer.sgl.length_bytes = kBlock;
  queue->command(longer);
  EXPECT_EQ(status_of(queue->receive()), refuse(StatusCode::kSglLengthInvalid));
  EXPECT_EQ(read_back(*queue, 0, 1), std::vector<std::byte>(kBlock));
}

TEST_F(TargetTest, ConnectByTransferWorksToo) {
  auto made = host();
  made->negotiate();
  Sqe sqe = TestHost::connect_command(kAdmin);
  sqe.sgl.length_bytes = sizeof(ConnectData);
  const auto id = made->command(sqe);
  const auto ready = made->receive().as<ReadyToTransfer>();
  const ConnectData data = TestHost::connect_data(kNqn);
  made->send(
      encode_data(PduType::kHostData, kFlagLast,
                  {.command_id = id, .transfer_tag = ready.transfer_tag, .data_bytes = sizeof data},
                  {}),
      bytes_of(data));
  EXPECT_TRUE(status_of(made->receive()).ok());
}

TEST_F(TargetTest, BeforeConnectNothingElseIsDone) {
  auto made = host();
  made->negotiate();
  Sqe identify;
  identify.opcode = static_cast<std::uint8_t>(AdminOpcode::kIdentify);
  identify.sgl.length_bytes = 4096;
  made->command(identify);
  EXPECT_EQ(status_of(made->receive()), refuse(StatusCode::kSequenceError));
}

TEST_F(TargetTest, ASecondIcRequestIsTerminatedAsOutOfSequence) {
  auto made = host();
  made->negotiate();
  made->send(encode_ic_request({}));
  const ReceivedPdu pdu = made->receive();
  ASSERT_EQ(pdu.type, PduType::kControllerTerminate);
  EXPECT_EQ(pdu.as<Terminate>().reason, 2);
  EXPECT_EQ(pdu.data.size(), 8U);  // as much as came of the refused header
}

// H2CData that no R2T asked for, or other than it asked: (tag, command id, offset, bytes, reason).
TEST_F(TargetTest, DataThatWasNotAskedForEndsTheConnection) {
  struct Bad {
    std::uint16_t tag_off;
    std::uint16_t id_off;
    std::uint32_t offset;
    std::uint32_t bytes;
    std::uint8_t flags;
    std::uint16_t reason;
  };
  const auto control = admin();
  for (const Bad& bad :
       {Bad{50, 0, 0, kBlock, 4, 1}, Bad{0, 1, 0, kBlock, 4, 1}, Bad{0, 0, 4, kBlock, 4, 4},
        Bad{0, 0, 0, 2 * kBlock, 4, 4}, Bad{0, 0, 0, kBlock, 0, 4}, Bad{0, 0, 0, 512, 4, 4}}) {
    const auto queue = io_queue();
    const auto id = queue->command(io_command(IoOpcode::kWrite, 0, 1));
    const auto tag = queue->receive().as<ReadyToTransfer>().transfer_tag;
    const DataPdu pdu{.command_id = static_cast<std::uint16_t>(id + bad.id_off),
                      .transfer_tag = static_cast<std::uint16_t>(tag + bad.tag_off),
                      .data_offset = bad.offset,
                      .data_bytes = bad.bytes};
    queue->send(encode_data(PduType::kHostData, bad.flags, pdu, {}), pattern(bad.bytes, 0));
    const ReceivedPdu answer = queue->receive();
    ASSERT_EQ(answer.type, PduType::kControllerTerminate);
    EXPECT_EQ(answer.as<Terminate>().reason, bad.reason);
    queue->close();
    settle();
  }
  EXPECT_EQ(target_->connection_count(), 1U);  // the admin queue does not mind
}

TEST_F(TargetTest, MoreCommandsThanEntriesEndTheConnection) {
  const auto control = admin();
  const auto queue = io_queue({}, 4);
  for (int i = 0; i < 5; ++i) queue->command(io_command(IoOpcode::kWrite, 0, 8));
  ReceivedPdu pdu = queue->receive();
  while (pdu.type == PduType::kReadyToTransfer) pdu = queue->receive();
  EXPECT_EQ(pdu.type, PduType::kControllerTerminate);
}

TEST_F(TargetTest, AStrangerWhoSaysNothingIsClosedUponAfterTenSeconds) {
  auto made = host();
  pass(std::chrono::seconds(9));
  EXPECT_EQ(target_->connection_count(), 1U);
  pass(std::chrono::seconds(2));
  EXPECT_EQ(target_->connection_count(), 0U);
}

TEST_F(TargetTest, AHostThatFallsSilentLosesItsQueuesAndOneThatKeepsAliveDoesNot) {
  const auto control = admin({}, 2000);
  const auto queue = io_queue();
  Sqe keep_alive;
  keep_alive.opcode = static_cast<std::uint8_t>(AdminOpcode::kKeepAlive);
  for (int i = 0; i < 5; ++i) {
    pass(std::chrono::milliseconds(1500));
    control->command(keep_alive);
    EXPECT_TRUE(status_of(control->receive()).ok());
  }
  EXPECT_EQ(target_->connection_count(), 2U);
  pass(std::chrono::milliseconds(2100));
  EXPECT_EQ(target_->connection_count(), 0U);
}

TEST_F(TargetTest, IoQueuesEndWithTheirAdminQueue) {
  auto control = admin();
  const auto queue = io_queue();
  control->close();
  EXPECT_TRUE(queue->receive().closed);
  settle();
  EXPECT_EQ(target_->connection_count(), 0U);
}

TEST_F(TargetTest, AHostMayLeaveAtAnyByteOfItsFirstPdus) {
  std::vector<std::byte> bytes;
  const auto add = [&bytes](std::span<const std::byte> more) {
    bytes.insert(bytes.end(), more.begin(), more.end());
  };
  Sqe connect = TestHost::connect_command(kAdmin);
  connect.flags = kFlagsSgl;
  connect.sgl = {.length_bytes = sizeof(ConnectData), .type = kSglInCapsule};
  add(encode_ic_request({}).bytes());
  add(encode_command(connect, sizeof(ConnectData), {}).bytes());
  add(bytes_of(TestHost::connect_data(kNqn)));
  for (std::size_t size = 0; size <= bytes.size(); size += size < 210 ? 1 : 97) {
    auto made = host();
    made->send(std::span(bytes).first(size));
    made->close();
    settle();
    ASSERT_EQ(target_->connection_count(), 0U) << size;
  }
}

TEST_F(TargetTest, MemoryIsBoundedAndOneThatDoesNotReadStopsNobody) {
  stop();
  start({.transfer_memory_bytes = 8 << 20});
  const auto control = admin();
  const auto greedy = io_queue();
  for (int i = 0; i < 100; ++i) greedy->command(io_command(IoOpcode::kWrite, 0, 256));
  settle();
  // Only its share was asked for: two transfers of 1 MiB of a pool of 8.
  const auto other = host();
  other->negotiate();
  const ConnectFields fields{.queue_id = 2, .queue_size = 7, .attributes = kConnectNoFlowControl};
  ASSERT_EQ(other->connect(kNqn, fields, controller_).status, 0);
  EXPECT_EQ(read_back(*other, 0, 256).size(), 1U << 20);
  int ready = 0;
  for (; ready < 2; ++ready) {
    EXPECT_EQ(greedy->receive().type, PduType::kReadyToTransfer);
  }
}

TEST_F(TargetTest, DrainAnswersWhatIsAtWorkAndClosesEverything) {
  stop();
  device_ = block::make_memory_device(loop_, {.latency = std::chrono::seconds(1)});
  start({});
  const auto control = admin();
  const auto queue = io_queue();
  Sqe event;
  event.opcode = static_cast<std::uint8_t>(AdminOpcode::kAsyncEvent);
  control->command(event);  // held: will never be answered
  queue->command(io_command(IoOpcode::kRead, 0, 16));
  settle();  // the device has the read
  stop();
  EXPECT_EQ(queue->receive().data.size(), 16U * kBlock);
  EXPECT_TRUE(queue->receive().closed);
  EXPECT_TRUE(control->receive().closed);
}

TEST_F(TargetTest, MoreConnectionsThanAllowedAreClosedAsTheyCome) {
  stop();
  start({.connections_max = 2});
  const auto first = host();
  const auto second = host();
  const auto third = host();
  settle();
  EXPECT_EQ(target_->connection_count(), 2U);
  EXPECT_TRUE(third->receive().closed);
}

}  // namespace
}  // namespace forebay::nvme::target
