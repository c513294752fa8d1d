// A target whose host must prove itself, over sockets: what goes through before, what a failure
// ends, and that data goes on while a host proves itself again.
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "nvme/auth/auth_testing.h"
#include "nvme/target/target_testing.h"

namespace forebay::nvme::target {
namespace {

using auth::HostSide;
using auth::HostState;

constexpr const char* kHostNqn = "nqn.2014-08.org.nvmexpress:uuid:test";
constexpr std::uint32_t kAnswerBytes = auth::kMessageBytesMax;

Sqe auth_command(FabricsType type, std::uint32_t bytes) {
  Sqe sqe;
  sqe.opcode = kFabricsOpcode;
  sqe.namespace_id = static_cast<std::uint32_t>(type);
  set_fields(sqe, auth::AuthFields{.length_bytes = bytes});
  return sqe;
}

CommandStatus auth_send(TestHost& host, std::span<const std::byte> message) {
  host.command(auth_command(FabricsType::kAuthSend, static_cast<std::uint32_t>(message.size())),
               message);
  return status_of(host.receive());
}

// Empty: it was refused, with `status`.
std::vector<std::byte> auth_receive(TestHost& host, CommandStatus* status = nullptr,
                                    std::uint32_t bytes = kAnswerBytes) {
  Sqe sqe = auth_command(FabricsType::kAuthReceive, bytes);
  sqe.sgl.length_bytes = bytes;
  host.command(sqe);
  ReceivedPdu pdu = host.receive();
  if (pdu.type == PduType::kControllerData) return pdu.data;
  if (status != nullptr) *status = status_of(pdu);
  return {};
}

class TargetAuthTest : public TargetTest {
 protected:
  TargetAuthTest() { target_->set_credentials(kHostNqn, secrets_); }

  [[nodiscard]] HostSide side(const std::shared_ptr<auth::Credentials>& secrets) const {
    return {secrets, {kHostNqn, kNqn}, 5};
  }
  static void authenticate(TestHost& host, HostSide& side) {
    while (side.sends() || side.receives()) {
      if (side.sends()) {
        ASSERT_TRUE(auth_send(host, side.message()).ok());
        side.sent();
      } else {
        side.received(auth_receive(host));
      }
    }
  }
  void authenticate(TestHost& host) {
    HostSide made = side(secrets_);
    authenticate(host, made);
    EXPECT_EQ(made.state(), HostState::kDone) << made.failure().what;
  }
  // A connection whose Connect was answered with ATR.
  std::unique_ptr<TestHost> connected(const ConnectFields& fields, std::uint16_t id = 0xFFFF) {
    auto made = host();
    made->negotiate();
    const Cqe answer = made->connect(kNqn, fields, id);
    EXPECT_EQ(answer.status, 0);
    EXPECT_EQ(answer.result & ~std::uint64_t{0xFFFF}, kAuthenticationRequired);
    controller_ = static_cast<std::uint16_t>(answer.result);
    return made;
  }
  std::unique_ptr<TestHost> ready_admin() {
    auto made = connected(kAdmin);
    authenticate(*made);
    EXPECT_EQ(made->enable().status, 0);
    return made;
  }
  std::unique_ptr<TestHost> ready_queue() {
    auto made = connected(kQueue, controller_);
    authenticate(*made);
    return made;
  }

  static constexpr ConnectFields kQueue{
      .queue_id = 1, .queue_size = 31, .attributes = kConnectNoFlowControl};
  std::shared_ptr<auth::Credentials> secrets_ =
      auth::credentials_of(auth::kHostSecret, auth::kControllerSecret);
};

TEST_F(TargetAuthTest, AHostThatProvesItselfReadsAndWrites) {
  const auto control = ready_admin();
  const auto queue = ready_queue();
  const auto data = pattern(kBlock, 1);
  queue->command(io_command(IoOpcode::kWrite, 3, 1), data);
  EXPECT_TRUE(status_of(queue->receive()).ok());
  EXPECT_EQ(read_back(*queue, 3, 1), data);
}

TEST_F(TargetAuthTest, AHostWithoutAKeyConnectsAsBefore) {
  identity_ = "other";
  const auto control = admin();
  const auto queue = io_queue();
  EXPECT_EQ(read_back(*queue, 0, 1).size(), kBlock);
}

TEST_F(TargetAuthTest, BeforeNothingButAuthenticationIsDone) {
  const auto refused = refuse(StatusCode::kAuthenticationRequired);
  const auto control = connected(kAdmin);
  EXPECT_EQ(CommandStatus::from_wire(control->enable().status), refused);
  Sqe identify;
  identify.opcode = static_cast<std::uint8_t>(AdminOpcode::kIdentify);
  identify.sgl.length_bytes = kBlock;
  control->command(identify);
  EXPECT_EQ(status_of(control->receive()), refused);
  // A queue of its own needs a controller that is ready, which it is not.
  auto other = host();
  other->negotiate();
  EXPECT_NE(other->connect(kNqn, kQueue, controller_).status, 0);
  authenticate(*control);
  EXPECT_EQ(control->enable().status, 0);
  const auto queue = connected(kQueue, controller_);
  queue->command(io_command(IoOpcode::kRead, 0, 1));
  EXPECT_EQ(status_of(queue->receive()), refused);
  queue->command(io_command(IoOpcode::kWrite, 0, 1), pattern(kBlock, 1));
  EXPECT_EQ(status_of(queue->receive()), refused);
  authenticate(*queue);
  EXPECT_EQ(read_back(*queue, 0, 1), std::vector<std::byte>(kBlock));
}

TEST_F(TargetAuthTest, AWrongKeyIsToldAndTheConnectionEnds) {
  const auto control = connected(kAdmin);
  HostSide wrong = side(auth::credentials_of(auth::kControllerSecret));
  authenticate(*control, wrong);
  EXPECT_EQ(wrong.state(), HostState::kFailed);
  EXPECT_EQ(wrong.failure().code, Errc::kDenied);
  EXPECT_TRUE(control->receive().closed);
  settle();
  EXPECT_EQ(target_->connection_count(), 0U);
}

TEST_F(TargetAuthTest, WhoDoesNotFetchTheFailureIsClosedUpon) {
  const auto control = connected(kAdmin);
  EXPECT_TRUE(auth_send(*control, auth::write_success2(5)).ok());
  settle();
  EXPECT_EQ(target_->connection_count(), 1U);
  pass(std::chrono::seconds(6));
  EXPECT_EQ(target_->connection_count(), 0U);
}

TEST_F(TargetAuthTest, WhoDoesNotProveItselfInTimeIsClosedUpon) {
  const auto control = connected(kAdmin);
  pass(std::chrono::seconds(29));
  EXPECT_EQ(target_->connection_count(), 1U);
  pass(std::chrono::seconds(2));
  EXPECT_EQ(target_->connection_count(), 0U);
}

// Each is refused, and the authentication goes on where it was.
TEST_F(TargetAuthTest, CommandsOfAnotherShapeAreRefused) {
  const auto control = connected(kAdmin);
  CommandStatus status;
  EXPECT_TRUE(auth_receive(*control, &status).empty());  // there is nothing to fetch
  EXPECT_EQ(status, refuse(StatusCode::kSequenceError));
  HostSide made = side(secrets_);
  const auto sends = [&](const auth::AuthFields& fields) {
    Sqe sqe = auth_command(FabricsType::kAuthSend, 0);
    set_fields(sqe, fields);
    control->command(sqe, made.message());
    return status_of(control->receive());
  };
  const auto size = static_cast<std::uint32_t>(made.message().size());
  EXPECT_EQ(sends({.protocol = 0xEA, .length_bytes = size}), refuse(StatusCode::kInvalidField));
  EXPECT_EQ(sends({.specific0 = 0, .length_bytes = size}), refuse(StatusCode::kInvalidField));
  EXPECT_EQ(sends({.specific1 = 2, .length_bytes = size}), refuse(StatusCode::kInvalidField));
  EXPECT_EQ(sends({.length_bytes = 0}), refuse(StatusCode::kInvalidField));
  EXPECT_EQ(sends({.length_bytes = 4097}), refuse(StatusCode::kInvalidField));
  EXPECT_EQ(sends({.length_bytes = size - 1}), refuse(StatusCode::kSglLengthInvalid));
  ASSERT_TRUE(auth_send(*control, made.message()).ok());
  made.sent();
  EXPECT_TRUE(auth_receive(*control, &status, 16).empty());  // too short for a challenge
  EXPECT_EQ(status, refuse(StatusCode::kInvalidField));
  authenticate(*control, made);
  EXPECT_EQ(made.state(), HostState::kDone);
}

// Data that the target asked for comes while the host proves itself again on the same queue.
TEST_F(TargetAuthTest, DataGoesOnWhileAHostProvesItselfAgain) {
  const auto control = ready_admin();
  const auto queue = ready_queue();
  const auto data = pattern(16 * kBlock, 2);
  const auto id = queue->command(io_command(IoOpcode::kWrite, 8, 16));
  const auto asked = queue->receive().as<ReadyToTransfer>();
  authenticate(*queue);
  authenticate(*control);
  queue->send(encode_data(PduType::kHostData, kFlagLast,
                          {.command_id = id,
                           .transfer_tag = asked.transfer_tag,
                           .data_bytes = static_cast<std::uint32_t>(data.size())},
                          queue->format),
              data);
  EXPECT_TRUE(status_of(queue->receive()).ok());
  HostSide again = side(secrets_);
  EXPECT_TRUE(auth_send(*queue, again.message()).ok());
  again.sent();
  EXPECT_EQ(read_back(*queue, 8, 16), data);  // in the middle of it
  authenticate(*queue, again);
  EXPECT_EQ(again.state(), HostState::kDone);
}

TEST_F(TargetAuthTest, WhoFailsTheSecondTimeLosesTheQueue) {
  const auto control = ready_admin();
  const auto queue = ready_queue();
  const auto data = pattern(16 * kBlock, 2);
  const auto id = queue->command(io_command(IoOpcode::kWrite, 8, 16));
  const auto asked = queue->receive().as<ReadyToTransfer>();
  HostSide wrong = side(auth::credentials_of(auth::kControllerSecret));
  while (wrong.state() != HostState::kAwaitSuccess1) {
    if (wrong.sends()) {
      ASSERT_TRUE(auth_send(*queue, wrong.message()).ok());
      wrong.sent();
    } else {
      wrong.received(auth_receive(*queue));
    }
  }
  // Its data comes when it is nobody any more: it is not written.
  queue->send(encode_data(PduType::kHostData, kFlagLast,
                          {.command_id = id,
                           .transfer_tag = asked.transfer_tag,
                           .data_bytes = static_cast<std::uint32_t>(data.size())},
                          queue->format),
              data);
  EXPECT_EQ(status_of(queue->receive()), refuse(StatusCode::kAuthenticationRequired));
  wrong.received(auth_receive(*queue));
  EXPECT_EQ(wrong.state(), HostState::kFailed);
  EXPECT_TRUE(queue->receive().closed);
  settle();
  const auto fresh = ready_queue();
  EXPECT_EQ(read_back(*fresh, 8, 16), std::vector<std::byte>(16 * kBlock));
}

TEST_F(TargetAuthTest, AKeyThatIsTakenAwayIsNotAskedForAgain) {
  target_->set_credentials(kHostNqn, nullptr);
  const auto control = admin();
  EXPECT_EQ(target_->connection_count(), 1U);
}

TEST_F(TargetAuthTest, AHostMayLeaveInTheMiddleOfIt) {
  for (int steps = 0; steps < 5; ++steps) {
    const auto control = connected(kAdmin);
    HostSide made = side(secrets_);
    for (int i = 0; i < steps; ++i) {
      if (made.sends()) {
        EXPECT_TRUE(auth_send(*control, made.message()).ok());
        made.sent();
      } else {
        made.received(auth_receive(*control));
      }
    }
    control->close();
    settle();
    EXPECT_EQ(target_->connection_count(), 0U);
  }
}

}  // namespace
}  // namespace forebay::nvme::target
