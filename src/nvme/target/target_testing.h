// For tests: a target on the simulator, and what hosts ask of it.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "block/memory.h"
#include "io/sim.h"
#include "nvme/target/target.h"
#include "nvme/target/test_host.h"

namespace forebay::nvme::target {
inline constexpr const char* kNqn = "nqn.2026-12.org.forebay:disk";
inline constexpr std::uint32_t kBlock = 4096;
inline constexpr ConnectFields kAdmin{.queue_size = 31, .attributes = kConnectNoFlowControl};

inline std::vector<std::byte> pattern(std::size_t size, unsigned seed) {
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i) {
    bytes[i] = static_cast<std::byte>((i * 31 + i / 251 + seed) & 0xFF);
  }
  return bytes;
}

class TargetTest : public testing::Test {
 protected:
  explicit TargetTest(const io::SimOptions& sim = {.seed = 11}) : engine_(sim) { start({}); }
  ~TargetTest() override { stop(); }

  void start(const TargetOptions& options) {
    target_ = std::make_unique<Target>(loop_, options);
    target_->add_subsystem(kNqn).add_namespace(1, *device_);
    port_ = target_->listen("127.0.0.1", 0).value();
  }
  void stop() {
    if (target_ != nullptr) loop_.run(target_->drain());
    target_.reset();
  }
  std::unique_ptr<TestHost> host() { return std::make_unique<TestHost>(loop_, port_); }

  // A controller's admin queue, ready.
  std::unique_ptr<TestHost> admin(Digests digests = {}, std::uint32_t keep_alive_ms = 0) {
    auto made = host();
    made->identity = identity_;
    made->negotiate(digests);
    ConnectFields fields = kAdmin;
    fields.keep_alive_ms = keep_alive_ms;
    const Cqe connected = made->connect(kNqn, fields);
    EXPECT_EQ(connected.status, 0);
    controller_ = static_cast<std::uint16_t>(connected.result);
    EXPECT_EQ(made->enable().status, 0);
    return made;
  }
  std::unique_ptr<TestHost> io_queue(Digests digests = {}, std::uint16_t entries = 128,
                                     std::uint8_t attributes = kConnectNoFlowControl) {
    auto made = host();
    made->identity = identity_;
    made->negotiate(digests);
    const ConnectFields fields{.queue_id = 1,
                               .queue_size = static_cast<std::uint16_t>(entries - 1),
                               .attributes = attributes};
    EXPECT_EQ(made->connect(kNqn, fields, controller_).status, 0);
    return made;
  }
  // What was sent arrives and is worked on; no timer of seconds fires.
  void settle() { pass(std::chrono::milliseconds(200)); }
  // Until virtual time has gone on by so much.
  void pass(Nanos span) {
    const Nanos until = loop_.now() + span;
    while (loop_.now() < until) loop_.turn();
  }

  io::SimEngine engine_;
  io::Loop loop_{engine_};
  std::unique_ptr<block::Device> device_ =
      block::make_memory_device(loop_, {.size_bytes = 64 * kMiB, .transfer_bytes_max = 128 * 1024});
  std::unique_ptr<Target> target_;
  std::uint16_t port_ = 0;
  std::uint16_t controller_ = 0;
  std::string identity_ = "test";  // of the hosts that connect next
};

inline Sqe io_command(IoOpcode opcode, std::uint64_t first, std::uint32_t blocks) {
  Sqe sqe;
  sqe.opcode = static_cast<std::uint8_t>(opcode);
  sqe.namespace_id = 1;
  sqe.dwords10[0] = static_cast<std::uint32_t>(first);
  sqe.dwords10[2] = blocks - 1;
  sqe.sgl.length_bytes = blocks * kBlock;
  return sqe;
}

inline CommandStatus status_of(const ReceivedPdu& pdu) {
  EXPECT_EQ(pdu.type, PduType::kResponse);
  return CommandStatus::from_wire(pdu.as<ResponseCapsule>().cqe.status);
}

// A write whose data the target asks for; sent in pieces of `piece` bytes.
inline CommandStatus write_by_r2t(TestHost& host, std::uint64_t first,
                                  const std::vector<std::byte>& data, std::size_t piece) {
  const auto id = host.command(
      io_command(IoOpcode::kWrite, first, static_cast<std::uint32_t>(data.size() / kBlock)));
  const ReceivedPdu ready = host.receive();
  EXPECT_EQ(ready.type, PduType::kReadyToTransfer);
  const auto asked = ready.as<ReadyToTransfer>();
  EXPECT_EQ(asked.command_id, id);
  EXPECT_EQ(asked.data_bytes, data.size());
  for (std::size_t at = 0; at < data.size(); at += piece) {
    const auto part = std::span(data).subspan(at, std::min(piece, data.size() - at));
    const bool last = at + part.size() == data.size();
    const DataPdu pdu{.command_id = id,
                      .transfer_tag = asked.transfer_tag,
                      .data_offset = static_cast<std::uint32_t>(at),
                      .data_bytes = static_cast<std::uint32_t>(part.size())};
    host.send(encode_data(PduType::kHostData, last ? kFlagLast : 0, pdu, host.format), part);
  }
  return status_of(host.receive());
}

inline std::vector<std::byte> read_back(TestHost& host, std::uint64_t first, std::uint32_t blocks) {
  host.command(io_command(IoOpcode::kRead, first, blocks));
  const ReceivedPdu pdu = host.receive();
  EXPECT_EQ(pdu.type, PduType::kControllerData);
  EXPECT_TRUE(pdu.intact);
  EXPECT_EQ(pdu.as<CommonHeader>().flags & kFlagSuccess, kFlagSuccess);
  return pdu.data;
}

}  // namespace forebay::nvme::target
