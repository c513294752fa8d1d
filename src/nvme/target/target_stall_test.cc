// Hosts that hold transfer memory and do not move: others go on beside them, and they are ended.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "nvme/target/target_testing.h"

namespace forebay::nvme::target {
namespace {

constexpr std::uint32_t kLargest = 256;  // blocks: 1 MiB

// What is sent and not read fills up: a window of 64 KiB, and a pool for eight of the largest.
class TargetStall : public TargetTest {
 protected:
  TargetStall() : TargetTest({.seed = 12, .stream_bytes_max = 64 * 1024}) {
    stop();
    start({.transfer_memory_bytes = 8 << 20});
  }
  // A queue of a host of its own that is connected and has asked for much.
  void add_greedy(const std::string& identity, IoOpcode opcode) {
    identity_ = identity;
    hosts_.push_back(admin());
    hosts_.push_back(io_queue());
    for (int i = 0; i < 100; ++i) hosts_.back()->command(io_command(opcode, 0, kLargest));
  }
  void expect_another_works() {
    expect_works();
    settle();  // its connections are gone
  }

  std::vector<std::unique_ptr<TestHost>> hosts_;

 private:
  void expect_works() {
    identity_ = "other";
    const Nanos start = loop_.now();
    const auto control = admin();
    const auto queue = io_queue();
    const auto block = pattern(1 << 20, 3);
    ASSERT_TRUE(write_by_r2t(*queue, 1000, block, 64 * 1024).ok());
    EXPECT_EQ(read_back(*queue, 1000, kLargest), block);
    EXPECT_LT(loop_.now() - start, std::chrono::seconds(1));
  }
};

TEST_F(TargetStall, HostsThatDoNotReadLeaveRoomForOthersAndAreEnded) {
  for (const char* name : {"a", "b", "c", "d"}) add_greedy(name, IoOpcode::kRead);
  settle();
  expect_another_works();
  EXPECT_EQ(target_->connection_count(), 8U);
  pass(std::chrono::seconds(8));
  EXPECT_EQ(target_->connection_count(), 8U);
  pass(std::chrono::seconds(3));
  EXPECT_EQ(target_->connection_count(), 4U);  // their admin queues asked for nothing
}

TEST_F(TargetStall, HostsThatOweDataLeaveRoomForOthersAndAreEnded) {
  for (const char* name : {"a", "b", "c", "d"}) add_greedy(name, IoOpcode::kWrite);
  settle();
  expect_another_works();
  pass(std::chrono::seconds(8));
  EXPECT_EQ(target_->connection_count(), 8U);
  pass(std::chrono::seconds(3));
  EXPECT_EQ(target_->connection_count(), 4U);
}

TEST_F(TargetStall, ManyQueuesOfOneHostHaveTheShareOfOneHost) {
  identity_ = "a";
  hosts_.push_back(admin());
  for (std::uint16_t id = 1; id <= 8; ++id) {
    hosts_.push_back(host());
    hosts_.back()->identity = "a";
    hosts_.back()->negotiate();
    const ConnectFields fields{
        .queue_id = id, .queue_size = 31, .attributes = kConnectNoFlowControl};
    ASSERT_EQ(hosts_.back()->connect(kNqn, fields, controller_).status, 0);
    for (int i = 0; i < 20; ++i) hosts_.back()->command(io_command(IoOpcode::kRead, 0, kLargest));
  }
  settle();
  expect_another_works();
}

// Abort: what waits for memory is ended at once; what was begun is not, and is said so.
TEST_F(TargetStall, ACommandThatWaitsForMemoryCanBeAbortedOneThatWasBegunNot) {
  const auto control = admin();
  const auto queue = io_queue();
  const auto abort = [&](std::uint16_t queue_id, std::uint16_t command_id) {
    Sqe sqe;
    sqe.opcode = static_cast<std::uint8_t>(AdminOpcode::kAbort);
    sqe.dwords10[0] = queue_id | (std::uint32_t{command_id} << 16);
    control->command(sqe);
    const Cqe answer = control->receive().as<ResponseCapsule>().cqe;
    EXPECT_EQ(answer.status, 0);
    return answer.result;
  };
  const auto first = queue->command(io_command(IoOpcode::kWrite, 0, kLargest));
  std::uint16_t last = 0;
  for (int i = 0; i < 20; ++i) last = queue->command(io_command(IoOpcode::kWrite, 0, kLargest));
  settle();
  EXPECT_EQ(abort(1, first), 1U);
  EXPECT_EQ(abort(1, last), 0U);
  EXPECT_EQ(abort(1, last), 1U);  // it is gone
  EXPECT_EQ(abort(2, last), 1U);  // no such queue
  EXPECT_EQ(abort(1, 9999), 1U);
  ReceivedPdu pdu = queue->receive();
  while (pdu.type == PduType::kReadyToTransfer) pdu = queue->receive();
  EXPECT_EQ(pdu.as<ResponseCapsule>().cqe.command_id, last);
  EXPECT_EQ(status_of(pdu), retry_later(StatusCode::kAbortRequested));
  EXPECT_EQ(target_->connection_count(), 2U);
}

TEST_F(TargetStall, OneThatSendsHalfACommandIsEndedToo) {
  const auto control = admin();
  const auto queue = io_queue();
  Sqe write = io_command(IoOpcode::kWrite, 0, 2);
  write.flags = kFlagsSgl;
  write.sgl.type = kSglInCapsule;
  queue->send(encode_command(write, 2 * kBlock, {}), pattern(kBlock, 1));
  pass(std::chrono::seconds(9));
  EXPECT_EQ(target_->connection_count(), 2U);
  pass(std::chrono::seconds(2));
  EXPECT_EQ(target_->connection_count(), 1U);
}

TEST_F(TargetStall, ASlowHostThatMovesIsNotEnded) {
  const auto control = admin();
  const auto queue = io_queue();
  queue->command(io_command(IoOpcode::kRead, 0, kLargest));
  for (int i = 0; i < 20; ++i) {
    pass(std::chrono::seconds(8));
    ASSERT_GT(queue->swallow(4096), 0U);
  }
  EXPECT_EQ(target_->connection_count(), 2U);
}

TEST_F(TargetStall, ASlowWriterThatMovesIsNotEnded) {
  const auto control = admin();
  const auto queue = io_queue();
  const auto block = pattern(10 * kBlock, 9);
  const auto id = queue->command(io_command(IoOpcode::kWrite, 0, 10));
  const auto tag = queue->receive().as<ReadyToTransfer>().transfer_tag;
  for (std::uint32_t at = 0; at < block.size(); at += kBlock) {
    pass(std::chrono::seconds(8));
    const DataPdu pdu{
        .command_id = id, .transfer_tag = tag, .data_offset = at, .data_bytes = kBlock};
    const bool last = at + kBlock == block.size();
    queue->send(encode_data(PduType::kHostData, last ? kFlagLast : 0, pdu, {}),
                std::span(block).subspan(at, kBlock));
  }
  EXPECT_TRUE(status_of(queue->receive()).ok());
  EXPECT_EQ(read_back(*queue, 0, 10), block);
}

TEST_F(TargetStall, AHostThatIsOwedNothingMayBeSilent) {
  const auto control = admin();
  const auto queue = io_queue();
  queue->command(io_command(IoOpcode::kRead, 0, 1));
  EXPECT_EQ(queue->receive().data.size(), kBlock);
  pass(std::chrono::minutes(10));
  EXPECT_EQ(target_->connection_count(), 2U);
}

}  // namespace
}  // namespace forebay::nvme::target
