// Reservations: who may read and write under each type, and what the four commands do and answer.
#include "nvme/target/reservations.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "block/memory.h"
#include "core/bytes.h"
#include "io/sim.h"
#include "nvme/target/queues.h"

namespace forebay::nvme::target {
namespace {

constexpr const char* kSharedNqn = "nqn.2026-12.org.forebay:disk";
constexpr CommandStatus kConflict = refuse(StatusCode::kReservationConflict);
// Opcodes, actions and types as the specification numbers them.
constexpr std::uint8_t kRegisterOp = 0x0D;
constexpr std::uint8_t kReportOp = 0x0E;
constexpr std::uint8_t kAcquireOp = 0x11;
constexpr std::uint8_t kReleaseOp = 0x15;

// One host with its I/O queue.
struct Host {
  std::shared_ptr<Controller> controller;
  std::unique_ptr<IoQueue> queue;

  CommandStatus run(Exchange& exchange, std::uint32_t data_bytes) {
    exchange.sqe.namespace_id = 1;
    exchange.on_done = [](Exchange&) {};
    exchange.status = queue->check(exchange, data_bytes);
    if (exchange.status.ok()) (void)queue->execute(exchange);
    return exchange.status;
  }
  CommandStatus run(std::uint8_t opcode, std::uint32_t dword10, std::vector<std::uint64_t> keys) {
    Exchange exchange;
    exchange.sqe.opcode = opcode;
    exchange.sqe.dwords10[0] = dword10;
    const auto bytes = std::as_writable_bytes(std::span(keys));
    exchange.in = bytes;
    return run(exchange, static_cast<std::uint32_t>(bytes.size()));
  }
  CommandStatus enroll(std::uint64_t key) { return run(kRegisterOp, 0, {0, key}); }
  CommandStatus unregister(std::uint64_t key) { return run(kRegisterOp, 1, {key, 0}); }
  CommandStatus acquire(std::uint32_t type, std::uint64_t key) {
    return run(kAcquireOp, type << 8, {key, 0});
  }
  CommandStatus preempt(std::uint32_t type, std::uint64_t key, std::uint64_t whom) {
    return run(kAcquireOp, (type << 8) | 1, {key, whom});
  }
  CommandStatus release(std::uint32_t type, std::uint64_t key) {
    return run(kReleaseOp, type << 8, {key});
  }
  std::vector<std::byte> report(std::size_t size = 4096, std::uint32_t dword11 = 1) {
    std::vector<std::byte> out(size, std::byte{0xEE});
    Exchange exchange;
    exchange.sqe.opcode = kReportOp;
    exchange.sqe.dwords10[0] = static_cast<std::uint32_t>(size / 4 - 1);
    exchange.sqe.dwords10[1] = dword11;
    exchange.out = out;
    EXPECT_TRUE(run(exchange, static_cast<std::uint32_t>(size)).ok());
    return out;
  }
};

struct World {
  io::SimEngine engine{io::SimOptions{}};
  io::Loop loop{engine};
  std::unique_ptr<block::Device> device = block::make_memory_device(loop, {.size_bytes = kMiB});
  Subsystem subsystem{kSharedNqn, SubsystemKind::kNvm, TargetLimits{}};

  World() { subsystem.add_namespace(1, *device); }
  Host connect(int id) {
    auto controller = subsystem.make_controller(
        {.id = {static_cast<std::byte>(id)}, .nqn = "nqn.2014-08.org.nvmexpress:uuid:a"});
    EXPECT_TRUE(controller->set_property({.offset = 0x14, .value = 0x460001}));
    auto queue = std::make_unique<IoQueue>(controller);
    return {controller, std::move(queue)};
  }
};

template <class T>
T at(const std::vector<std::byte>& bytes, std::size_t offset) {
  return load_as<T>(std::span(bytes).subspan(offset));
}

// Of the command behaviour in the presence of a reservation (Base Specification 2.0, 8.19): who may
// write and read under each type: its holder, another registrant, and any other host.
struct Row {
  std::uint32_t type;
  bool registrant_writes;
  bool registrant_reads;
  bool other_writes;
  bool other_reads;
};
constexpr Row kRows[]{
    {1, false, true, false, true}, {2, false, false, false, false}, {3, true, true, false, true},
    {4, true, true, false, false}, {5, true, true, false, true},    {6, true, true, false, false},
};

bool passes(Host& host, std::uint8_t opcode, std::uint32_t data_bytes) {
  Exchange exchange;
  exchange.sqe.opcode = opcode;
  exchange.sqe.namespace_id = 1;
  const CommandStatus status = host.queue->check(exchange, data_bytes);
  EXPECT_TRUE(status.ok() || status == kConflict);
  return status.ok();
}
void expect_access(Host& host, bool writes, bool reads, const Row& row) {
  const std::string type = "type " + std::to_string(row.type);
  EXPECT_EQ(passes(host, 0x01, 4096), writes) << type;  // Write
  EXPECT_EQ(passes(host, 0x08, 0), writes) << type;     // Write Zeroes
  EXPECT_EQ(passes(host, 0x09, 16), writes) << type;    // Dataset Management
  EXPECT_EQ(passes(host, 0x00, 0), writes) << type;     // Flush
  EXPECT_EQ(passes(host, 0x02, 4096), reads) << type;   // Read
  EXPECT_EQ(passes(host, 0x05, 4096), reads) << type;   // Compare
}

TEST(Reservations, EachTypeLetsThroughWhatItsTableSays) {
  for (const Row& row : kRows) {
    World world;
    Host holder = world.connect(1);
    Host registrant = world.connect(2);
    Host other = world.connect(3);
    expect_access(other, true, true, row);  // nobody holds anything
    ASSERT_TRUE(holder.enroll(11).ok());
    ASSERT_TRUE(registrant.enroll(22).ok());
    expect_access(other, true, true, row);  // registrants alone keep nobody out
    ASSERT_TRUE(holder.acquire(row.type, 11).ok());
    expect_access(holder, true, true, row);
    expect_access(registrant, row.registrant_writes, row.registrant_reads, row);
    expect_access(other, row.other_writes, row.other_reads, row);
    ASSERT_TRUE(holder.release(row.type, 11).ok());
    expect_access(other, true, true, row);
  }
}

TEST(Reservations, AWriteWhoseDataCameTooLateIsRefusedWhenItWouldBegin) {
  World world;
  Host slow = world.connect(1);
  Host fast = world.connect(2);
  Exchange write;
  write.sqe.opcode = 1;
  write.sqe.namespace_id = 1;
  ASSERT_TRUE(slow.queue->check(write, 4096).ok());
  ASSERT_TRUE(fast.enroll(5).ok());
  ASSERT_TRUE(fast.acquire(1, 5).ok());
  EXPECT_EQ(slow.queue->execute(write), Progress::kDone);
  EXPECT_EQ(write.status, kConflict);
}

TEST(Reservations, OnlyRegistrantsWithTheirKeyAcquireAndOneHolds) {
  World world;
  Host a = world.connect(1);
  Host b = world.connect(2);
  EXPECT_EQ(a.acquire(1, 11), kConflict);
  ASSERT_TRUE(a.enroll(11).ok());
  EXPECT_TRUE(a.enroll(11).ok());      // the same again changes nothing
  EXPECT_EQ(a.enroll(12), kConflict);  // another key needs Replace
  EXPECT_EQ(a.acquire(1, 12), kConflict);
  ASSERT_TRUE(a.acquire(1, 11).ok());
  EXPECT_TRUE(a.acquire(1, 11).ok());
  EXPECT_EQ(a.acquire(3, 11), kConflict);  // it holds another type
  ASSERT_TRUE(b.enroll(22).ok());
  EXPECT_EQ(b.acquire(1, 22), kConflict);
  EXPECT_TRUE(b.release(1, 22).ok());  // nothing of its own: no effect
  EXPECT_EQ(b.acquire(1, 22), kConflict);
  EXPECT_EQ(a.release(2, 11), refuse(StatusCode::kInvalidField));
  ASSERT_TRUE(a.run(kRegisterOp, 2, {11, 13}).ok());  // Replace
  EXPECT_EQ(a.release(1, 11), kConflict);
  EXPECT_TRUE(a.unregister(13).ok());  // with it the reservation goes
  EXPECT_TRUE(b.acquire(1, 22).ok());
}

TEST(Reservations, PreemptingTakesTheReservationAndTheRegistration) {
  World world;
  Host a = world.connect(1);
  Host b = world.connect(2);
  ASSERT_TRUE(a.enroll(11).ok());
  ASSERT_TRUE(b.enroll(22).ok());
  ASSERT_TRUE(a.acquire(1, 11).ok());
  EXPECT_EQ(b.preempt(1, 22, 99), kConflict);  // nobody has that key
  EXPECT_EQ(b.preempt(1, 22, 0), refuse(StatusCode::kInvalidField));
  ASSERT_TRUE(b.preempt(1, 22, 11).ok());
  EXPECT_FALSE(passes(a, 0x01, 4096));
  EXPECT_TRUE(passes(b, 0x01, 4096));
  EXPECT_EQ(a.acquire(1, 11), kConflict);  // no registrant any more
}

TEST(Reservations, AllHoldUntilTheLastOneLeavesAndKeyZeroPreemptsThemAll) {
  World world;
  Host a = world.connect(1);
  Host b = world.connect(2);
  Host c = world.connect(3);
  ASSERT_TRUE(a.enroll(11).ok());
  ASSERT_TRUE(b.enroll(22).ok());
  ASSERT_TRUE(a.acquire(5, 11).ok());
  ASSERT_TRUE(a.unregister(11).ok());
  EXPECT_FALSE(passes(c, 0x01, 4096));
  ASSERT_TRUE(a.enroll(11).ok());
  ASSERT_TRUE(a.preempt(2, 11, 0).ok());
  EXPECT_FALSE(passes(b, 0x02, 4096));
  ASSERT_TRUE(a.unregister(11).ok());
  EXPECT_TRUE(passes(b, 0x01, 4096));
}

TEST(Reservations, ClearForgetsEverybodyAndEveryChangeCounts) {
  World world;
  Host a = world.connect(1);
  Host b = world.connect(2);
  EXPECT_EQ(at<std::uint32_t>(a.report(), 0), 0U);
  ASSERT_TRUE(a.enroll(11).ok());
  ASSERT_TRUE(b.enroll(22).ok());
  ASSERT_TRUE(a.acquire(1, 11).ok());
  EXPECT_EQ(at<std::uint32_t>(a.report(), 0), 2U);  // acquiring and releasing do not count
  ASSERT_TRUE(b.run(kReleaseOp, 1, {22}).ok());     // Clear
  EXPECT_EQ(at<std::uint32_t>(a.report(), 0), 3U);
  EXPECT_EQ(at<std::uint16_t>(a.report(), 5), 0U);
  EXPECT_TRUE(passes(a, 0x01, 4096));
}

// The figures of 7.5: reservation status, extended data structure.
TEST(Reservations, TheReportHasItsFieldsWhereTheSpecificationPutsThem) {
  World world;
  Host a = world.connect(1);
  auto b = std::make_unique<Host>(world.connect(2));
  ASSERT_TRUE(a.enroll(0x1111).ok());
  ASSERT_TRUE(b->enroll(0x2222).ok());
  ASSERT_TRUE(b->acquire(1, 0x2222).ok());
  const Host second = world.connect(1);  // the same host again
  b.reset();                             // gone without a word
  const auto report = a.report();
  EXPECT_EQ(at<std::uint32_t>(report, 0), 2U);  // GEN
  EXPECT_EQ(at<std::uint8_t>(report, 4), 1);    // RTYPE
  EXPECT_EQ(at<std::uint16_t>(report, 5), 3);   // REGCTL: controllers
  EXPECT_EQ(at<std::uint8_t>(report, 9), 0);    // PTPLS
  EXPECT_EQ(at<std::uint16_t>(report, 64), a.controller->id());
  EXPECT_EQ(at<std::uint8_t>(report, 66), 0);         // RCSTS
  EXPECT_EQ(at<std::uint64_t>(report, 72), 0x1111U);  // RKEY
  EXPECT_EQ(at<HostId>(report, 80), a.controller->host().id);
  EXPECT_EQ(at<std::uint16_t>(report, 128), second.controller->id());
  EXPECT_EQ(at<std::uint16_t>(report, 192), 0xFFFF);  // registered, without a controller
  EXPECT_EQ(at<std::uint8_t>(report, 194), 1);
  EXPECT_EQ(at<std::uint64_t>(report, 200), 0x2222U);
  EXPECT_EQ(at<std::uint64_t>(report, 256), 0U);  // zeroes behind the end
  EXPECT_EQ(a.report(68).size(), 68U);            // and cut where the host's memory ends
}

TEST(Reservations, WhatACommandMayNotSayIsRefused) {
  World world;
  Host a = world.connect(1);
  const CommandStatus invalid = refuse(StatusCode::kInvalidField);
  EXPECT_EQ(a.run(kRegisterOp, 3, {0, 1}), invalid);
  EXPECT_EQ(a.run(kRegisterOp, 0, {1}), refuse(StatusCode::kSglLengthInvalid));
  ASSERT_TRUE(a.enroll(1).ok());
  EXPECT_EQ(a.acquire(0, 1), invalid);
  EXPECT_EQ(a.acquire(7, 1), invalid);
  EXPECT_EQ(a.run(kAcquireOp, (1 << 8) | 8, {1, 0}), invalid);  // IEKEY
  EXPECT_EQ(a.run(kReleaseOp, (1 << 8) | 8, {1}), invalid);
  Exchange standard;  // the form with identifiers of 8 bytes: fabrics have 16
  standard.sqe.opcode = kReportOp;
  standard.sqe.dwords10[0] = 15;
  EXPECT_EQ(a.run(standard, 64), refuse(StatusCode::kHostIdFormat));
  Host nobody = world.connect(0);
  EXPECT_EQ(nobody.enroll(1), refuse(StatusCode::kSequenceError));
}

TEST(Reservations, RegistrantsAreBounded) {
  Reservations reservations;
  HostId id{};
  for (std::size_t i = 1; i <= kRegistrantsMax; ++i) {
    id[0] = static_cast<std::byte>(i);
    id[1] = static_cast<std::byte>(i >> 8);
    ASSERT_TRUE(
        reservations.register_host(id, RegisterAction::kRegister, false, {.other = 1}).ok());
  }
  id[5] = std::byte{1};
  EXPECT_FALSE(reservations.register_host(id, RegisterAction::kRegister, false, {.other = 1}).ok());
  EXPECT_EQ(reservations.registrants().size(), kRegistrantsMax);
}

}  // namespace
}  // namespace forebay::nvme::target
