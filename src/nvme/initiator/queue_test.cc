// A queue against a controller that is written for it, in pieces of any size; and against bytes
// that no controller should send.
#include "nvme/initiator/queue.h"

#include <gtest/gtest.h>

#include <deque>

#include "nvme/initiator/fake_controller.h"

namespace forebay::nvme::initiator {
namespace {

constexpr std::uint32_t kBlock = 4096;
constexpr std::size_t kAll = 1 << 30;

// A read or write of whole blocks with its own memory.
struct Transfer {
  Transfer(IoOpcode opcode, std::uint64_t first, std::uint32_t blocks, std::size_t pieces_of = kAll)
      : memory(std::size_t{blocks} * kBlock) {
    command.sqe.opcode = static_cast<std::uint8_t>(opcode);
    command.sqe.namespace_id = 1;
    command.sqe.dwords10[0] = static_cast<std::uint32_t>(first);
    command.sqe.dwords10[2] = blocks - 1;
    command.direction =
        opcode == IoOpcode::kRead ? DataDirection::kToHost : DataDirection::kFromHost;
    command.data_bytes = static_cast<std::uint32_t>(memory.size());
    for (std::size_t at = 0; at < memory.size(); at += pieces_of) {
      pieces.push_back({&memory[at], std::min(pieces_of, memory.size() - at)});
    }
    command.pieces = pieces;
    command.context = this;
    command.on_done = [](QueueCommand& c) { ++static_cast<Transfer*>(c.context)->done; };
  }
  std::vector<std::byte> memory;
  std::vector<iovec> pieces;
  QueueCommand command;
  int done = 0;
};

std::vector<std::byte> pattern(std::size_t size, unsigned seed) {
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i) {
    bytes[i] = static_cast<std::byte>((i * 31 + i / 251 + seed) & 0xFF);
  }
  return bytes;
}

// A queue and its controller, and the wire between them.
struct Wire {
  explicit Wire(const FakeOptions& fake = {}, QueueOptions wanted = {}, FakeDisk* shared = nullptr)
      : controller(shared != nullptr ? *shared : disk, fake), queue(fill_in(wanted, fake)) {}
  ~Wire() { queue.close({Errc::kCancelled, "test: over"}); }

  static QueueOptions fill_in(QueueOptions wanted, const FakeOptions& fake) {
    wanted.digests = digests_of(fake.digests);
    wanted.subsystem_nqn = "nqn.2026-12.org.forebay:disk";
    wanted.host.nqn = "nqn.2026-12.org.forebay:host";
    if (wanted.queue_id == 0) wanted.queue_id = 1;
    return wanted;
  }
  void connect() {
    queue.start();
    settle();
  }
  void deliver(std::span<const std::byte> bytes, std::size_t piece_bytes = kAll) {
    while (!bytes.empty() && queue.state() < QueueState::kEnding) {
      std::size_t left = std::min(piece_bytes, bytes.size());
      std::size_t size = 0;
      for (const iovec& place : queue.receive_place()) {
        const std::size_t here = std::min(left, place.iov_len);
        if (here != 0) std::memcpy(place.iov_base, bytes.data(), here);
        bytes = bytes.subspan(here);
        left -= here;
        size += here;
      }
      queue.received(size);
    }
  }
  // Sends and receives in pieces of that size until both sides are silent.
  void settle(std::size_t piece_bytes = kAll) {
    for (bool moved = true; moved;) {
      moved = false;
      for (auto pieces = queue.next_send(); !pieces.empty(); pieces = queue.next_send()) {
        const auto* begin = static_cast<const std::byte*>(pieces.front().iov_base);
        const std::size_t size = std::min(piece_bytes, pieces.front().iov_len);
        controller.feed({begin, size});
        queue.sent(size);
        moved = true;
      }
      if (controller.out.empty()) continue;
      std::vector<std::byte> bytes;
      bytes.swap(controller.out);
      deliver(bytes, piece_bytes);
      moved = true;
    }
  }
  std::uint16_t last_id() const { return controller.commands.back().command_id; }

  FakeDisk disk;
  FakeController controller;
  Queue queue;
};

TEST(Queue, ConnectsWithTheNamesAndNumbersItWasGiven) {
  Wire wire({}, {.queue_id = 3, .entries = 17, .controller_id = 9});
  EXPECT_EQ(wire.queue.state(), QueueState::kIdle);
  wire.connect();
  ASSERT_EQ(wire.queue.state(), QueueState::kReady);
  const auto fields = fields_of<ConnectFields>(wire.controller.commands.front());
  EXPECT_EQ(fields.queue_id, 3);
  EXPECT_EQ(fields.queue_size, 16);
  EXPECT_EQ(fields.attributes, 4);  // bit 2: no flow control, so SUCCESS may come
  EXPECT_EQ(wire.controller.connect.controller_id, 9);
  EXPECT_STREQ(wire.controller.connect.subsystem_nqn.data(), "nqn.2026-12.org.forebay:disk");
  EXPECT_STREQ(wire.controller.connect.host_nqn.data(), "nqn.2026-12.org.forebay:host");
  EXPECT_EQ(wire.queue.free_count(), 16U);
}

// ICReq as the specification draws it: 3.6.2.2 of the transport specification.
TEST(Queue, ItsFirstBytesAreAnIcRequest) {
  Wire wire({.digests = 3});
  wire.queue.start();
  const auto pieces = wire.queue.next_send();
  ASSERT_EQ(pieces.size(), 1U);
  ASSERT_EQ(pieces[0].iov_len, 128U);
  const auto* bytes = static_cast<const std::byte*>(pieces[0].iov_base);
  EXPECT_EQ(hex({bytes, 16}), "00008000800000000000000300000000");
  wire.queue.sent(128);
}

// Whatever the split, the whole begin of the answer is there, and no more than a line of it.
TEST(Queue, AnotherProtocolIsNamedByItsFirstBytes) {
  constexpr std::string_view kAnswer =
      "HTTP/1.1 400 Bad Request\r\nServer: of another kind\r\n\r\n";
  for (const std::size_t piece : {kAll, std::size_t{1}}) {
    Wire wire;
    wire.queue.start();
    (void)wire.queue.next_send();
    wire.queue.sent(128);
    wire.deliver(std::as_bytes(std::span(kAnswer)), piece);
    EXPECT_EQ(wire.queue.end_error().code, Errc::kVersion);
    const auto told = wire.queue.strange_answer();
    EXPECT_GE(told.size(), 8U);  // a common header, which is what it is judged by
    EXPECT_LE(told.size(), 40U);
    EXPECT_TRUE(kAnswer.starts_with(told));
    EXPECT_TRUE(wire.queue.next_send().empty());
  }
}

struct Shape {
  std::uint8_t digests;
  std::uint8_t data_align;
  bool success;
  std::size_t piece;
};
class QueueShapes : public testing::TestWithParam<Shape> {};

TEST_P(QueueShapes, WhatIsWrittenIsReadBackInPiecesOfAnySize) {
  const Shape shape = GetParam();
  FakeOptions fake;
  fake.digests = shape.digests;
  fake.success_flag = shape.success;
  Wire wire(fake);
  wire.connect();
  for (const std::uint32_t blocks : {1U, 2U, 9U}) {
    Transfer out(IoOpcode::kWrite, 5, blocks, 1200);
    out.memory = pattern(out.memory.size(), blocks);
    out.pieces.clear();
    for (std::size_t at = 0; at < out.memory.size(); at += 1200) {
      out.pieces.push_back({&out.memory[at], std::min<std::size_t>(1200, out.memory.size() - at)});
    }
    out.command.pieces = out.pieces;
    wire.queue.submit(out.command);
    Transfer in(IoOpcode::kRead, 5, blocks, 1300);
    wire.settle(shape.piece);
    ASSERT_EQ(out.done, 1);
    ASSERT_TRUE(out.command.result.has_value());
    wire.queue.submit(in.command);
    wire.settle(shape.piece);
    ASSERT_EQ(in.done, 1) << to_string(wire.queue.end_error());
    EXPECT_TRUE(in.command.result.has_value());
    EXPECT_EQ(in.memory, out.memory);
  }
  EXPECT_FALSE(wire.controller.faulty);
  EXPECT_TRUE(wire.controller.intact);
  EXPECT_EQ(wire.queue.free_count(), 31U);
}

INSTANTIATE_TEST_SUITE_P(All, QueueShapes,
                         testing::Values(Shape{0, 0, true, kAll}, Shape{0, 0, false, kAll},
                                         Shape{1, 0, true, 1}, Shape{2, 0, false, 1},
                                         Shape{3, 0, true, 1}, Shape{3, 0, false, 7},
                                         Shape{3, 0, true, 4097}, Shape{0, 0, true, 1},
                                         Shape{2, 0, true, 5000}));

TEST(Queue, DataBeginsAtTheControllersAlignment) {
  Wire wire({.data_align = 31});
  wire.connect();
  Transfer out(IoOpcode::kWrite, 0, 1);
  wire.queue.submit(out.command);
  const auto pieces = wire.queue.next_send();
  const auto common =
      load_as<CommonHeader>({static_cast<const std::byte*>(pieces[0].iov_base), pieces[0].iov_len});
  EXPECT_EQ(common.data_offset, 128);
  EXPECT_EQ(common.total_bytes, 128U + kBlock);
  wire.queue.close({Errc::kCancelled, "test: over"});
  wire.queue.send_failed({Errc::kGone, "test: over"});
  EXPECT_EQ(out.done, 1);
}

// nvmet_tcp_calc_ddgst() of Linux 6.12 takes in the whole transfer, not the PDU.
TEST(Queue, WithADataDigestWhatIsAskedForIsOnePdu) {
  for (const bool digest : {false, true}) {
    Wire wire({.digests = static_cast<std::uint8_t>(digest ? 2 : 0),
               .host_data_bytes_max = 4 << 20,
               .ready_bytes = 4 << 20},
              {.capsule_data_bytes_max = 0});
    wire.connect();
    Transfer out(IoOpcode::kWrite, 0, 256, kBlock);
    wire.queue.submit(out.command);
    wire.settle();
    ASSERT_EQ(out.done, 1);
    EXPECT_TRUE(wire.controller.intact);
    EXPECT_EQ(wire.controller.host_data.size(), digest ? 1U : 4U);
  }
}

TEST(Queue, CutsWhatIsAskedForToTheControllersLimit) {
  Wire wire({.host_data_bytes_max = 4096, .ready_bytes = 10000}, {.capsule_data_bytes_max = 0});
  wire.connect();
  Transfer out(IoOpcode::kWrite, 0, 3);
  wire.queue.submit(out.command);
  wire.settle();
  EXPECT_EQ(out.done, 1);
  EXPECT_EQ(wire.controller.host_data, (std::vector<std::uint32_t>{4096, 4096, 1808, 2288}));
  EXPECT_FALSE(wire.controller.faulty);
}

TEST(Queue, AStatusIsItsError) {
  Wire wire;
  wire.connect();
  Transfer in(IoOpcode::kRead, 1 << 20, 1);
  wire.queue.submit(in.command);
  wire.settle();
  EXPECT_EQ(in.command.status.code, StatusCode::kLbaOutOfRange);
  ASSERT_FALSE(in.command.result);
  EXPECT_EQ(in.command.result.error().code, Errc::kInvalid);
  EXPECT_EQ(wire.queue.state(), QueueState::kReady);
}

TEST(Queue, AWrongDataDigestFailsThatReadAlone) {
  Wire wire({.digests = 2, .spoil_data_digest = 1});
  wire.connect();
  Transfer bad(IoOpcode::kRead, 0, 1);
  wire.queue.submit(bad.command);
  wire.settle();
  ASSERT_FALSE(bad.command.result);
  EXPECT_EQ(bad.command.result.error().code, Errc::kIo);
  wire.controller.options.spoil_data_digest = 0;
  Transfer good(IoOpcode::kRead, 0, 1);
  wire.queue.submit(good.command);
  wire.settle();
  EXPECT_TRUE(good.command.result.has_value());
}

TEST(Queue, ALateAnswerOfAnAbandonedReadIsNotTakenForAnother) {
  Wire wire({.answers_io = false}, {.entries = 3});
  wire.connect();
  Transfer dead(IoOpcode::kRead, 0, 1);
  wire.queue.submit(dead.command);
  wire.settle();
  const std::uint16_t dead_id = wire.last_id();
  wire.queue.abandon(dead.command, {Errc::kTimedOut, "test: late"});
  EXPECT_EQ(dead.done, 1);
  EXPECT_EQ(dead.command.result.error().code, Errc::kTimedOut);
  EXPECT_EQ(wire.queue.free_count(), 1U);  // its identifier is not free before the answer
  Transfer live(IoOpcode::kRead, 1, 1);
  wire.queue.submit(live.command);
  wire.settle();
  const std::uint16_t live_id = wire.last_id();
  EXPECT_NE(live_id, dead_id);
  wire.controller.send_data(dead_id, 0, pattern(kBlock, 1), kFlagLast | kFlagSuccess);
  wire.settle();
  EXPECT_EQ(live.done, 0);
  EXPECT_EQ(dead.memory, std::vector<std::byte>(kBlock));
  EXPECT_EQ(wire.queue.free_count(), 1U);
  Transfer third(IoOpcode::kRead, 2, 1);
  wire.queue.submit(third.command);
  wire.settle();
  EXPECT_NE(wire.last_id(), dead_id);  // the slot again, of another generation
  wire.controller.respond(dead_id);
  wire.settle();
  EXPECT_EQ(wire.queue.state(), QueueState::kEnded);
  EXPECT_EQ(live.command.result.error().code, Errc::kGone);
  EXPECT_EQ(third.done, 1);
}

TEST(Queue, ASentWriteIsNotGivenBackBeforeItsAnswer) {
  Wire wire({.answers_io = false});
  wire.connect();
  Transfer out(IoOpcode::kWrite, 0, 1);
  wire.queue.submit(out.command);
  wire.settle();
  wire.queue.abandon(out.command, {Errc::kTimedOut, "test: late"});
  EXPECT_EQ(out.done, 0);
  wire.controller.respond(wire.last_id());
  wire.settle();
  EXPECT_EQ(out.done, 1);
}

// The kernel reads a write's memory until the send is done, whatever the controller says.
TEST(Queue, AnAnswerDoesNotFreeMemoryThatIsBeingSent) {
  Wire wire({.answers_io = false});
  wire.connect();
  Transfer out(IoOpcode::kWrite, 0, 1);
  wire.queue.submit(out.command);
  const auto pieces = wire.queue.next_send();
  ASSERT_EQ(pieces.size(), 2U);
  wire.controller.feed({static_cast<const std::byte*>(pieces[0].iov_base), pieces[0].iov_len});
  wire.controller.feed({static_cast<const std::byte*>(pieces[1].iov_base), pieces[1].iov_len});
  wire.controller.respond(wire.last_id());
  std::vector<std::byte> answer;
  answer.swap(wire.controller.out);
  wire.deliver(answer);
  EXPECT_EQ(out.done, 0);
  wire.queue.sent(pieces[0].iov_len + pieces[1].iov_len);
  EXPECT_EQ(out.done, 1);
}

// What a bad controller does to a connected queue with one read and one written block in flight.
struct Misdeed {
  const char* name;
  void (*commit)(Wire& wire, std::uint16_t read_id, std::uint16_t write_id);
  TerminateReason reason;
};
class QueueMisdeeds : public testing::TestWithParam<Misdeed> {};

TEST_P(QueueMisdeeds, EndsWithItsReasonAndFailsWhatWasInFlight) {
  Wire wire({.answers_io = false}, {.capsule_data_bytes_max = 0});
  wire.connect();
  Transfer in(IoOpcode::kRead, 0, 2);
  Transfer out(IoOpcode::kWrite, 0, 2);
  wire.queue.submit(in.command);
  wire.settle();
  const std::uint16_t read_id = wire.last_id();
  wire.queue.submit(out.command);
  wire.settle();
  GetParam().commit(wire, read_id, wire.last_id());
  wire.settle();
  EXPECT_EQ(wire.queue.state(), QueueState::kEnded);
  EXPECT_EQ(in.done, 1);
  EXPECT_EQ(out.done, 1);
  EXPECT_EQ(in.command.result.error().code, Errc::kGone);
  ASSERT_TRUE(wire.controller.terminated);
  EXPECT_EQ(wire.controller.terminate.reason, static_cast<std::uint16_t>(GetParam().reason));
}

const Misdeed kMisdeeds[] = {
    {"answers_nobody", [](Wire& w, std::uint16_t, std::uint16_t) { w.controller.respond(999); },
     TerminateReason::kInvalidField},
    {"data_for_nobody",
     [](Wire& w, std::uint16_t, std::uint16_t) {
       w.controller.send_data(999, 0, pattern(kBlock, 1), 0);
     },
     TerminateReason::kInvalidField},
    {"data_for_a_write",
     [](Wire& w, std::uint16_t, std::uint16_t id) {
       w.controller.send_data(id, 0, pattern(kBlock, 1), 0);
     },
     TerminateReason::kInvalidField},
    {"too_much_data",
     [](Wire& w, std::uint16_t id, std::uint16_t) {
       w.controller.send_data(id, 0, pattern(3 * kBlock, 1), 0);
     },
     TerminateReason::kDataOutOfRange},
    {"data_beyond_the_read",
     [](Wire& w, std::uint16_t id, std::uint16_t) {
       w.controller.send_data(id, 0xFFFFF000, pattern(kBlock, 1), 0);
     },
     TerminateReason::kDataOutOfRange},
    {"the_same_data_twice",
     [](Wire& w, std::uint16_t id, std::uint16_t) {
       w.controller.send_data(id, 0, pattern(kBlock, 1), 0);
       w.controller.send_data(id, 0, pattern(kBlock, 1), 0);
     },
     TerminateReason::kDataOutOfRange},
    {"success_without_last",
     [](Wire& w, std::uint16_t id, std::uint16_t) {
       w.controller.send_data(id, 0, pattern(2 * kBlock, 1), kFlagSuccess);
     },
     TerminateReason::kInvalidField},
    {"success_before_all_data",
     [](Wire& w, std::uint16_t id, std::uint16_t) {
       w.controller.send_data(id, 0, pattern(kBlock, 1), kFlagLast | kFlagSuccess);
     },
     TerminateReason::kInvalidField},
    {"response_before_all_data",
     [](Wire& w, std::uint16_t id, std::uint16_t) { w.controller.respond(id); },
     TerminateReason::kSequence},
    {"a_write_done_without_data",
     [](Wire& w, std::uint16_t, std::uint16_t id) { w.controller.respond(id); },
     TerminateReason::kSequence},
    {"ready_of_nothing",
     [](Wire& w, std::uint16_t, std::uint16_t id) { w.controller.send_ready(id, 0, 0); },
     TerminateReason::kDataOutOfRange},
    {"ready_beyond_the_end",
     [](Wire& w, std::uint16_t, std::uint16_t id) { w.controller.send_ready(id, 0, 8196); },
     TerminateReason::kDataOutOfRange},
    {"ready_out_of_order",
     [](Wire& w, std::uint16_t, std::uint16_t id) { w.controller.send_ready(id, 4096, 4096); },
     TerminateReason::kDataOutOfRange},
    {"ready_twice",
     [](Wire& w, std::uint16_t, std::uint16_t id) {
       w.controller.send_ready(id, 0, 4096);
       w.controller.send_ready(id, 4096, 4096);
     },
     TerminateReason::kDataLimit},
    {"ready_for_a_read",
     [](Wire& w, std::uint16_t id, std::uint16_t) { w.controller.send_ready(id, 0, 4096); },
     TerminateReason::kInvalidField},
    {"a_hosts_pdu",
     [](Wire& w, std::uint16_t, std::uint16_t) {
       append(w.controller.out, encode_command({}, 0, {}).bytes());
     },
     TerminateReason::kInvalidField},
};
INSTANTIATE_TEST_SUITE_P(All, QueueMisdeeds, testing::ValuesIn(kMisdeeds),
                         [](const auto& one) { return std::string(one.param.name); });

TEST(Queue, RefusesAnIcResponseThatItCannotKeepTo) {
  const auto ends_with = [](const IcResponse& answer, std::uint32_t detail) {
    Wire wire;
    wire.queue.start();
    const auto pieces = wire.queue.next_send();
    wire.controller.feed({static_cast<const std::byte*>(pieces[0].iov_base), pieces[0].iov_len});
    wire.queue.sent(128);
    wire.controller.out.clear();
    const HeaderBytes pdu = encode_ic_response(answer);
    wire.deliver(pdu.bytes());
    EXPECT_EQ(wire.queue.state(), QueueState::kEnding);
    wire.settle();
    EXPECT_EQ(wire.queue.state(), QueueState::kEnded);
    EXPECT_EQ(wire.controller.terminate.detail(), detail);
  };
  ends_with({.format = 1, .host_data_bytes_max = 4096}, 8);
  ends_with({.data_align = 32, .host_data_bytes_max = 4096}, 10);
  ends_with({.digests = 1, .host_data_bytes_max = 4096}, 11);
  ends_with({.host_data_bytes_max = 4092}, 12);
  ends_with({.host_data_bytes_max = 4098}, 12);
}

TEST(Queue, ARefusedConnectSaysWhatToDo) {
  const auto code = [](StatusCode status, std::uint64_t result) {
    FakeOptions fake;
    fake.connect_status = refuse(status).wire();
    fake.connect_result = result;
    Wire wire(fake);
    wire.connect();
    EXPECT_EQ(wire.queue.state(), QueueState::kEnded);
    return wire.queue.end_error().code;
  };
  EXPECT_EQ(code(StatusCode::kConnectInvalidParameters, 0x10100), Errc::kNotFound);
  EXPECT_EQ(code(StatusCode::kConnectInvalidHost, 0), Errc::kDenied);
  EXPECT_EQ(code(StatusCode::kConnectBusy, 0), Errc::kBusy);
  Wire wire({.connect_result = 0x20001});
  wire.connect();
  EXPECT_EQ(wire.queue.end_error().code, Errc::kDenied);  // authentication is asked for
}

TEST(Queue, FailsWhatIsInFlightOnlyWhenTheKernelLetGo) {
  Wire wire({.answers_io = false});
  wire.connect();
  Transfer in(IoOpcode::kRead, 0, 1);
  wire.queue.submit(in.command);
  wire.settle();
  ASSERT_FALSE(wire.queue.receive_place().empty());
  wire.queue.close({Errc::kGone, "test: unplugged"});
  EXPECT_EQ(in.done, 0);
  wire.queue.receive_failed({Errc::kCancelled, "test: over"});
  EXPECT_EQ(in.done, 1);
  EXPECT_EQ(wire.queue.state(), QueueState::kEnded);
  EXPECT_STREQ(wire.queue.end_error().what, "test: unplugged");
}

}  // namespace
}  // namespace forebay::nvme::initiator
