// A device over the fabric against our own target on the simulator: cuts, order, deadlines, and a
// target that goes and comes back.
#include "nvme/initiator/fabric_device.h"

#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <vector>

#include "block/faulty.h"
#include "block/request_testing.h"
#include "block/throttled.h"
#include "io/sim.h"
#include "nvme/initiator/fabric_testing.h"
#include "nvme/initiator/fake_server.h"

namespace forebay::nvme::initiator {
namespace {

using block::RequestKind;
constexpr std::size_t kBlock = 4096;

// A request of whole blocks with its own memory, all of one value.
struct Ask {
  Ask(RequestKind kind, std::uint64_t offset, std::size_t blocks, int value = 0)
      : memory(block::pages(std::max<std::size_t>(blocks, 1))),
        piece{memory.get(), blocks * kBlock} {
    std::memset(memory.get(), value, blocks * kBlock);
    request.kind = kind;
    request.offset_bytes = offset;
    request.length_bytes = blocks * kBlock;
    if (blocks != 0) request.buffers = {&piece, 1};
    request.context = this;
    request.on_done = [](block::Request& r) {
      auto& ask = *static_cast<Ask*>(r.context);
      ++ask.done;
      if (ask.order != nullptr) ask.order->push_back(&ask);
    };
  }
  Ask(const Ask&) = delete;
  Ask& operator=(const Ask&) = delete;
  [[nodiscard]] std::optional<Errc> error() const {
    if (request.done_bytes) return std::nullopt;
    return request.done_bytes.error().code;
  }
  [[nodiscard]] bool holds(int value) const {
    return std::all_of(memory.get(), memory.get() + piece.iov_len,
                       [value](std::byte b) { return b == static_cast<std::byte>(value); });
  }

  block::Memory memory;
  iovec piece;
  block::Request request;
  int done = 0;
  std::vector<Ask*>* order = nullptr;
};

class FabricDeviceTest : public testing::Test {
 protected:
  ~FabricDeviceTest() override { device_.reset(); }

  // Answers at once unless `latency` is given.
  void serve(Nanos latency = {}, const target::TargetOptions& options = {}) {
    disk_ = block::FaultyDevice::make(
        block::make_memory_device(loop_, {.size_bytes = 8 * kMiB, .latency = latency}), 1);
    target_ = std::make_unique<TestTarget>(loop_, *disk_, options);
  }
  void open(const FabricOptions& options) {
    auto opened = FabricDevice::open(loop_, options);
    ASSERT_TRUE(opened) << to_string(opened.error());
    device_ = std::move(*opened);
  }
  void open() { open(target_->options()); }
  [[nodiscard]] Errc open_fails(const FabricOptions& options) {
    const auto opened = FabricDevice::open(loop_, options);
    return opened ? Errc{} : opened.error().code;
  }
  void run(Ask& ask) {
    device_->submit(ask.request);
    await(ask);
  }
  void await(const Ask& ask) {
    const Nanos limit = loop_.now() + std::chrono::minutes(10);
    while (ask.done == 0 && loop_.now() < limit) loop_.turn();
    ASSERT_EQ(ask.done, 1);
  }
  void pass(Nanos span) {
    const Nanos until = loop_.now() + span;
    while (loop_.now() < until) loop_.turn();
  }

  io::SimEngine engine_{io::SimOptions{.seed = 21}};
  io::Loop loop_{engine_};
  std::unique_ptr<block::FaultyDevice> disk_;
  std::unique_ptr<TestTarget> target_;
  std::unique_ptr<FabricDevice> device_;
};

FabricOptions options_for(const FakeServer& server) {
  FabricOptions options;
  options.name = "nvme+tcp://fake";
  options.addresses = {loopback(server.port())};
  options.association.subsystem_nqn = kTestNqn;
  options.association.host.nqn = "nqn.2026-12.org.forebay:host";
  return options;
}

TEST_F(FabricDeviceTest, SaysWhatTheNamespaceIs) {
  serve();
  open();
  EXPECT_EQ(device_->geometry().size_bytes, 8 * kMiB);
  EXPECT_EQ(device_->geometry().align_bytes, 4096U);
  EXPECT_FALSE(device_->geometry().read_only);
  EXPECT_NE(device_->describe().find("nvme+tcp://test"), std::string::npos);
  EXPECT_EQ(target_->connection_count(), 2U);
  device_.reset();
  pass(std::chrono::milliseconds(100));
  EXPECT_EQ(target_->connection_count(), 0U);
}

// MDTS of 16 KiB: a request of 1 MiB is 64 commands, over pieces that do not fit their borders.
TEST_F(FabricDeviceTest, CutsWhatIsLargerThanACommand) {
  target::TargetOptions options;
  options.limits.transfer_bytes_max = 16 * 1024;
  serve({}, options);
  open();
  const std::size_t blocks = 256;
  const block::Memory out = block::pages(blocks);
  for (std::size_t i = 0; i < blocks * kBlock; ++i) {
    out.get()[i] = static_cast<std::byte>((i * 7 + i / kBlock) & 0xFF);
  }
  const std::vector<iovec> pieces{{out.get(), 3 * kBlock},
                                  {out.get() + 3 * kBlock, 200 * kBlock},
                                  {out.get() + 203 * kBlock, 53 * kBlock}};
  ASSERT_TRUE(loop_.run(block::do_write(device_.get(), kBlock, pieces)));
  EXPECT_EQ(device_->counters().commands, 64U);
  const block::Memory in = block::pages(blocks);
  ASSERT_TRUE(loop_.run(block::do_read(device_.get(), kBlock, {{in.get(), blocks * kBlock}})));
  EXPECT_EQ(std::memcmp(in.get(), out.get(), blocks * kBlock), 0);
  Ask beyond(RequestKind::kRead, 0, 5 * kMiB / kBlock);
  run(beyond);
  EXPECT_EQ(beyond.error(), Errc::kInvalid);
}

TEST_F(FabricDeviceTest, WhatTheQueueHasNoRoomForWaitsInOrder) {
  serve(std::chrono::milliseconds(1));
  FabricOptions options = target_->options();
  options.association.io_entries = 2;  // one command at a time
  open(options);
  std::vector<std::unique_ptr<Ask>> asks;
  std::vector<Ask*> order;
  for (int i = 0; i < 20; ++i) {
    asks.push_back(std::make_unique<Ask>(RequestKind::kWrite, 0, 1, i));
    asks.back()->order = &order;
    device_->submit(asks.back()->request);
  }
  await(*asks.back());
  ASSERT_EQ(order.size(), 20U);
  for (std::size_t i = 0; i < 20; ++i) EXPECT_EQ(order[i], asks[i].get());
  Ask read(RequestKind::kRead, 0, 1);
  run(read);
  EXPECT_TRUE(read.holds(19));
}

// An answer that arrived frees its entry, whatever the target still has to learn of its own send.
TEST_F(FabricDeviceTest, AFullQueueThatIsFilledAgainAtOnceIsNoMoreThanFull) {
  serve();
  FabricOptions options = target_->options();
  options.association.io_entries = 8;
  open(options);
  std::vector<std::unique_ptr<Ask>> asks;
  for (std::uint64_t i = 0; i < 300; ++i) {
    asks.push_back(std::make_unique<Ask>(RequestKind::kRead, i % 100 * kBlock, 1));
    device_->submit(asks.back()->request);
  }
  for (const auto& ask : asks) await(*ask);
  EXPECT_EQ(device_->counters().connections_lost, 0U);
  EXPECT_EQ(device_->counters().commands, 300U);
}

TEST_F(FabricDeviceTest, ADeadlineEndsWhatWaitsAndNotBefore) {
  serve(std::chrono::seconds(4));
  FabricOptions options = target_->options();
  options.association.io_entries = 2;
  open(options);
  Ask first(RequestKind::kRead, 0, 1);
  Ask second(RequestKind::kRead, 0, 1);
  Ask third(RequestKind::kRead, 0, 1);
  const Nanos start = loop_.now();
  third.request.deadline = start + std::chrono::seconds(2);
  second.request.deadline = start + std::chrono::seconds(3);
  device_->submit(first.request);
  device_->submit(second.request);
  device_->submit(third.request);
  await(third);
  EXPECT_EQ(third.error(), Errc::kTimedOut);
  EXPECT_GE(loop_.now() - start, std::chrono::seconds(2));
  EXPECT_EQ(second.done, 0);
  await(second);
  EXPECT_EQ(second.error(), Errc::kTimedOut);
  EXPECT_LT(loop_.now() - start, std::chrono::seconds(4));
  await(first);
  EXPECT_FALSE(first.error());
}

TEST_F(FabricDeviceTest, ACancelledReadComesBackAtOnceAWriteWhenItIsAnswered) {
  serve(std::chrono::seconds(4));
  open();
  Ask read(RequestKind::kRead, 0, 1);
  Ask write(RequestKind::kWrite, 0, 1, 7);
  device_->submit(read.request);
  device_->submit(write.request);
  pass(std::chrono::seconds(1));
  device_->cancel(read.request);
  EXPECT_EQ(read.done, 1);
  EXPECT_EQ(read.error(), Errc::kCancelled);
  device_->cancel(write.request);
  EXPECT_EQ(write.done, 0);
  await(write);
  pass(std::chrono::seconds(9));
  Ask again(RequestKind::kRead, 0, 1);
  run(again);
  EXPECT_TRUE(again.holds(7));
  EXPECT_TRUE(read.holds(0));  // nothing was written there after it came back
  EXPECT_EQ(device_->state(), FabricState::kReady);
}

TEST_F(FabricDeviceTest, FlushDiscardAndReadOnly) {
  serve();
  open();
  Ask write(RequestKind::kWrite, kBlock, 4, 9);
  run(write);
  Ask flush(RequestKind::kFlush, 0, 0);
  run(flush);
  EXPECT_EQ(flush.request.done_bytes.value(), 0U);
  Ask discard(RequestKind::kDiscard, 2 * kBlock, 2);
  discard.request.buffers = {};
  run(discard);
  EXPECT_FALSE(discard.error());
  Ask read(RequestKind::kRead, 2 * kBlock, 2);
  run(read);
  EXPECT_TRUE(read.holds(0));
  device_.reset();
  FabricOptions options = target_->options();
  options.write = false;
  open(options);
  EXPECT_TRUE(device_->geometry().read_only);
  Ask refused(RequestKind::kWrite, 0, 1, 1);
  run(refused);
  EXPECT_EQ(refused.error(), Errc::kReadOnly);
}

TEST_F(FabricDeviceTest, ADeviceErrorAtTheTargetIsAnErrorOfTheRequestAlone) {
  serve();
  open();
  disk_->faults().add({.kind = io::FaultKind::kIoError, .count = 1});
  Ask bad(RequestKind::kRead, 0, 1);
  run(bad);
  EXPECT_EQ(bad.error(), Errc::kIo);
  Ask good(RequestKind::kRead, 0, 1);
  run(good);
  EXPECT_FALSE(good.error());
  EXPECT_EQ(device_->counters().connections_lost, 0U);
}

TEST_F(FabricDeviceTest, OpeningSaysWhatIsWrong) {
  serve();
  FabricOptions options = target_->options();
  options.association.subsystem_nqn = "nqn.2026-12.org.forebay:other";
  EXPECT_EQ(open_fails(options), Errc::kNotFound);
  options = target_->options();
  options.association.namespace_id = 9;
  EXPECT_EQ(open_fails(options), Errc::kNotFound);
  options = target_->options();
  options.addresses = {loopback(1)};
  EXPECT_EQ(open_fails(options), errc_from_errno(ECONNREFUSED));
  // The next address of the name is tried.
  options.addresses = {loopback(1), target_->options().addresses[0]};
  open(options);
}

// Whatever it falls silent at: nothing answered, or the controller's first commands only.
TEST_F(FabricDeviceTest, OpeningEndsAfterItsTimeWhereverTheServerFallsSilent) {
  const PeerAddress any = loopback(0);
  const io::FileId silent = engine_.listen(&any.storage, any.bytes).value();
  const PeerAddress nobody = loopback(engine_.local_port(silent).value());
  FakeDisk fake_disk;
  fake_disk.zero_ready_polls = 1U << 30;  // never ready, in a time that is its own
  FakeServer server(loop_, fake_disk, {});
  for (const std::vector<PeerAddress>& addresses :
       {std::vector{nobody}, std::vector{nobody, nobody, nobody},
        std::vector{loopback(server.port())}, std::vector{nobody, loopback(server.port())}}) {
    FabricOptions options;
    options.addresses = addresses;
    options.association.subsystem_nqn = kTestNqn;
    options.association.host.nqn = "nqn.2026-12.org.forebay:host";
    options.association.connect_time = std::chrono::seconds(6);
    const Nanos start = loop_.now();
    EXPECT_EQ(open_fails(options), Errc::kTimedOut);
    EXPECT_NEAR(std::chrono::duration<double>(loop_.now() - start).count(), 6, 0.1);
  }
  engine_.close(silent);
}

// The target closes an association that is silent for its keep-alive time.
TEST_F(FabricDeviceTest, KeepAliveKeepsAnIdleAssociation) {
  serve();
  open();
  pass(std::chrono::minutes(2));
  EXPECT_EQ(target_->connection_count(), 2U);
  EXPECT_EQ(device_->counters().connections_lost, 0U);
}

TEST_F(FabricDeviceTest, ATargetThatComesBackWorksAgain) {
  serve(std::chrono::milliseconds(100));
  open();
  Ask write(RequestKind::kWrite, 0, 1, 5);
  run(write);
  Ask flush(RequestKind::kFlush, 0, 0);
  run(flush);
  Ask read(RequestKind::kRead, 0, 1);
  Ask lost(RequestKind::kWrite, kBlock, 1, 6);
  device_->submit(read.request);
  device_->submit(lost.request);
  pass(std::chrono::milliseconds(50));
  target_->stop({});
  pass(std::chrono::seconds(3));
  EXPECT_EQ(device_->state(), FabricState::kLost);
  EXPECT_EQ(lost.done, 0);
  EXPECT_EQ(read.done, 0);
  Ask meanwhile(RequestKind::kWrite, 2 * kBlock, 1, 8);
  device_->submit(meanwhile.request);
  target_->start(*disk_);
  await(read);
  EXPECT_TRUE(read.holds(5));
  await(meanwhile);
  EXPECT_FALSE(meanwhile.error());
  EXPECT_EQ(lost.done, 1);
  EXPECT_FALSE(lost.error());  // the target is a new one: nothing of the old one can land
  EXPECT_EQ(device_->counters().connections_lost, 1U);
  EXPECT_EQ(device_->counters().retries, 2U);
  Ask last(RequestKind::kFlush, 0, 0);
  run(last);
  EXPECT_FALSE(last.error());
}

// A volatile cache may be gone with the target: fsync() semantics.
TEST_F(FabricDeviceTest, TheFlushAfterALossSaysThatWritesMayBeGone) {
  serve();
  open();
  Ask write(RequestKind::kWrite, 0, 1, 5);
  run(write);
  target_->stop({});
  pass(std::chrono::seconds(1));
  target_->start(*disk_);
  Ask flush(RequestKind::kFlush, 0, 0);
  run(flush);
  EXPECT_EQ(flush.error(), Errc::kIo);
  Ask second(RequestKind::kFlush, 0, 0);
  run(second);
  EXPECT_FALSE(second.error());
}

// A target whose cache is the same as before says so; one whose machine began anew does not.
TEST_F(FabricDeviceTest, TheFlushAfterALossIsGoodWhereTheCacheIsTheSame) {
  serve();
  target_->cache_epoch.fill(std::byte{7});
  target_->stop({});
  target_->start(*disk_);
  open();
  for (const bool same : {true, false}) {
    Ask write(RequestKind::kWrite, 0, 1, 5);
    run(write);
    target_->stop({});
    pass(std::chrono::seconds(1));
    if (!same) target_->cache_epoch.fill(std::byte{8});
    target_->start(*disk_);
    Ask flush(RequestKind::kFlush, 0, 0);
    run(flush);
    EXPECT_EQ(flush.error(), same ? std::nullopt : std::optional(Errc::kIo));
  }
}

TEST_F(FabricDeviceTest, ATargetThatStaysAwayIsGoneUntilItIsBack) {
  serve();
  FabricOptions options = target_->options();
  options.lost_time = std::chrono::seconds(6);
  open(options);
  target_->stop({});
  pass(std::chrono::seconds(1));
  Ask patient(RequestKind::kRead, 0, 1);
  Ask hasty(RequestKind::kRead, 0, 1);
  const Nanos start = loop_.now();
  hasty.request.deadline = start + std::chrono::seconds(2);
  device_->submit(patient.request);
  device_->submit(hasty.request);
  await(hasty);
  EXPECT_EQ(hasty.error(), Errc::kTimedOut);
  EXPECT_EQ(patient.done, 0);
  await(patient);
  EXPECT_EQ(patient.error(), Errc::kGone);
  EXPECT_NEAR(std::chrono::duration<double>(loop_.now() - start).count(), 5, 0.2);
  EXPECT_EQ(device_->state(), FabricState::kDown);
  Ask at_once(RequestKind::kRead, 0, 1);
  device_->submit(at_once.request);
  EXPECT_EQ(at_once.done, 1);
  EXPECT_EQ(at_once.error(), Errc::kGone);
  target_->start(*disk_);
  pass(std::chrono::seconds(6));
  EXPECT_EQ(device_->state(), FabricState::kReady);
  Ask again(RequestKind::kRead, 0, 1);
  run(again);
  EXPECT_FALSE(again.error());
}

TEST_F(FabricDeviceTest, ACommandThatIsNotAnsweredEndsTheConnectionByName) {
  serve();
  FabricOptions options = target_->options();
  options.association.command_time = std::chrono::seconds(2);
  open(options);
  disk_->faults().add({.kind = io::FaultKind::kStuck, .count = 1});
  Ask write(RequestKind::kWrite, 0, 1, 1);
  const Nanos start = loop_.now();
  run(write);
  EXPECT_EQ(write.error(), Errc::kTimedOut);
  EXPECT_NEAR(std::chrono::duration<double>(loop_.now() - start).count(), 2.5, 0.6);
  disk_->release_stuck();
  Ask read(RequestKind::kRead, 0, 1);
  run(read);
  EXPECT_FALSE(read.error());
}

TEST_F(FabricDeviceTest, AnotherNamespaceUnderTheSameNameIsNotTaken) {
  serve();
  open();
  target_->stop({});
  const auto smaller = block::make_memory_device(loop_, {.size_bytes = 4 * kMiB});
  target_->start(*smaller);
  Ask read(RequestKind::kRead, 0, 1);
  const Nanos start = loop_.now();
  run(read);
  EXPECT_EQ(read.error(), Errc::kExists);
  EXPECT_LT(loop_.now() - start, std::chrono::seconds(2));
  device_.reset();
  target_->stop({});
}

// A controller of another make: several C2HData a command, small R2Ts, a response to every read.
TEST_F(FabricDeviceTest, AReadWhoseDigestDoesNotFitIsReadAgainAndThenAnError) {
  FakeDisk fake_disk;
  FakeOptions fake;
  fake.digests = 2;
  fake.success_flag = false;
  FakeServer server(loop_, fake_disk, fake);
  FabricOptions options = options_for(server);
  options.association.digests = {.data = true};
  open(options);
  Ask write(RequestKind::kWrite, 0, 10, 3);
  run(write);
  EXPECT_FALSE(write.error());
  server.controller(1).options.spoil_data_digest = 1;
  Ask damaged(RequestKind::kRead, 0, 10);
  run(damaged);
  EXPECT_EQ(damaged.error(), Errc::kIo);
  EXPECT_EQ(device_->counters().retries, 2U);
  server.controller(1).options.spoil_data_digest = 0;
  Ask read(RequestKind::kRead, 0, 10);
  run(read);
  EXPECT_TRUE(read.holds(3));
  EXPECT_EQ(device_->counters().connections_lost, 0U);
  EXPECT_FALSE(server.controller(1).faulty);
  device_.reset();
}

// Reads go to the controller that answers; the one that does not is given up, and named.
TEST_F(FabricDeviceTest, AControllerThatFallsSilentIsLeftAndFoundAgain) {
  FakeDisk fake_disk;
  FakeServer server(loop_, fake_disk, {});
  FabricOptions options = options_for(server);
  options.association.command_time = std::chrono::seconds(4);
  open(options);
  server.controller(1).options.answers_io = false;
  Ask read(RequestKind::kRead, 0, 1);
  const Nanos start = loop_.now();
  run(read);
  EXPECT_FALSE(read.error());
  EXPECT_GE(loop_.now() - start, std::chrono::seconds(4));
  EXPECT_EQ(device_->counters().connections_lost, 1U);
  EXPECT_GT(fake_disk.keep_alives, 0U);  // went on while the read stood
  device_.reset();
}

// Aborted, the command alone fails; the connection and its other commands go on.
TEST_F(FabricDeviceTest, ACommandThatIsNotAnsweredIsAborted) {
  FakeDisk fake_disk;
  FakeServer server(loop_, fake_disk, {});
  FabricOptions options = options_for(server);
  options.association.command_time = std::chrono::seconds(4);
  open(options);
  fake_disk.on_abort = [&server](std::uint32_t dword10) {
    server.controller(1).respond(static_cast<std::uint16_t>(dword10 >> 16), 0x07 << 1);
    server.push(1);
    return true;
  };
  server.controller(1).options.answers_io = false;
  Ask write(RequestKind::kWrite, 0, 1, 1);
  const Nanos start = loop_.now();
  run(write);
  EXPECT_EQ(write.error(), Errc::kTimedOut);
  EXPECT_NEAR(std::chrono::duration<double>(loop_.now() - start).count(), 4.25, 0.3);
  ASSERT_EQ(fake_disk.aborts.size(), 1U);
  EXPECT_EQ(fake_disk.aborts[0],
            1U | (std::uint32_t{server.controller(1).commands.back().command_id} << 16));
  server.controller(1).options.answers_io = true;
  Ask again(RequestKind::kWrite, 0, 1, 1);
  run(again);
  EXPECT_FALSE(again.error());
  EXPECT_EQ(device_->counters().connections_lost, 0U);
  EXPECT_EQ(device_->counters().aborted, 1U);
  device_.reset();
}

// The fake takes one Abort at a time, and does not end a command by it.
TEST_F(FabricDeviceTest, NoMoreAbortsAreOnTheirWayThanTheControllerTakes) {
  FakeDisk fake_disk;
  FakeServer server(loop_, fake_disk, {});
  FabricOptions options = options_for(server);
  options.association.command_time = std::chrono::seconds(4);
  open(options);
  server.controller(1).options.answers_io = false;
  Ask first(RequestKind::kWrite, 0, 1, 1);
  Ask second(RequestKind::kWrite, kBlock, 1, 1);
  device_->submit(first.request);
  device_->submit(second.request);
  await(first);
  await(second);
  EXPECT_EQ(first.error(), Errc::kTimedOut);
  EXPECT_EQ(second.error(), Errc::kTimedOut);
  EXPECT_EQ(fake_disk.aborts.size(), 1U);
  pass(std::chrono::seconds(1));
  EXPECT_EQ(device_->counters().connections_lost, 1U);
  device_.reset();
}

// One event request after another: each change is seen, and an idle minute does not end the wait.
TEST_F(FabricDeviceTest, ANamespaceThatChangesIsSeenWhileItIsOpen) {
  serve();
  open();
  const auto larger = block::make_memory_device(loop_, {.size_bytes = 16 * kMiB});
  const auto smaller = block::make_memory_device(loop_, {.size_bytes = 4 * kMiB});
  Ask early(RequestKind::kWrite, 16 * kMiB - kBlock, 1, 5);
  run(early);
  EXPECT_EQ(early.error(), Errc::kInvalid);
  target_->subsystem().add_namespace(1, *larger);
  target_->subsystem().announce(1);
  pass(std::chrono::seconds(1));
  EXPECT_EQ(device_->geometry().size_bytes, 16 * kMiB);
  Ask last(RequestKind::kRead, 16 * kMiB - kBlock, 1);
  run(last);
  EXPECT_FALSE(last.error());
  pass(std::chrono::minutes(2));
  target_->subsystem().add_namespace(1, *smaller);
  target_->subsystem().announce(1);
  pass(std::chrono::seconds(1));
  EXPECT_EQ(device_->geometry().size_bytes, 4 * kMiB);
  target_->subsystem().remove_namespace(1);
  pass(std::chrono::seconds(1));
  Ask gone(RequestKind::kRead, 0, 1);
  run(gone);
  EXPECT_EQ(gone.error(), Errc::kGone);
  EXPECT_EQ(device_->geometry().size_bytes, 4 * kMiB);
  EXPECT_EQ(device_->counters().connections_lost, 0U);
  device_.reset();
  target_->stop({});
}

// Nothing of what a program knows of the old disk is true of it.
TEST_F(FabricDeviceTest, AnotherDiskInTheNamespaceIsNotTakenWhileItIsOpen) {
  serve();
  open();
  const auto other = block::make_memory_device(loop_, {.size_bytes = 16 * kMiB});
  target_->subsystem().add_namespace(1, *other).nguid.fill(std::byte{9});
  target_->subsystem().announce(1);
  pass(std::chrono::seconds(1));
  for (const RequestKind kind : {RequestKind::kRead, RequestKind::kWrite}) {
    Ask ask(kind, 0, 1, 5);
    run(ask);
    EXPECT_EQ(ask.error(), Errc::kExists);
  }
  block::Memory seen = block::pages(1);
  ASSERT_TRUE(loop_.run(block::do_read(other.get(), 0, {{seen.get(), kBlock}})));
  EXPECT_EQ(std::ranges::count(std::span(seen.get(), kBlock), std::byte{0}), kBlock);
  device_.reset();
  target_->stop({});
}

// Whatever is under way, the device waits for it or gives it back, once.
TEST_F(FabricDeviceTest, ClosingEndsEverything) {
  serve(std::chrono::milliseconds(20));
  FabricOptions options = target_->options();
  options.association.io_entries = 4;
  open(options);
  std::vector<std::unique_ptr<Ask>> asks;
  for (int i = 0; i < 10; ++i) {
    asks.push_back(std::make_unique<Ask>(RequestKind::kRead, 0, 1));
    device_->submit(asks.back()->request);
  }
  device_.reset();
  for (const auto& ask : asks) EXPECT_EQ(ask->done, 1);
  open(options);
  target_->stop({});
  pass(std::chrono::seconds(1));
  Ask waits(RequestKind::kRead, 0, 1);
  device_->submit(waits.request);
  device_.reset();
  EXPECT_EQ(waits.error(), Errc::kCancelled);
}

}  // namespace
}  // namespace forebay::nvme::initiator
