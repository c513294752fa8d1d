// One writer at a time over the fabric: several devices on one namespace of our own target.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "block/request_testing.h"
#include "io/sim.h"
#include "nvme/initiator/fabric_testing.h"

namespace forebay::nvme::initiator {
namespace {

constexpr std::size_t kBlock = 4096;

// A process of its own: what it does ends without a word.
class Process final : private Association::Owner {
 public:
  Process(io::Loop& loop, const FabricOptions& options, bool guard) : loop_(loop) {
    AssociationOptions wishes = options.association;
    wishes.host.id.fill(std::byte{99});
    wishes.guard = guard;
    Association::Owner& self = *this;
    association_ = std::make_unique<Association>(loop_, self, wishes);
    association_->start(options.addresses[0]);
    while (!ready_ && !ended_) loop_.turn();
  }
  ~Process() override { end(); }
  void end() {
    if (ended_) return;
    association_->close({Errc::kCancelled, "test: killed"});
    while (!ended_) loop_.turn();
  }
  [[nodiscard]] bool holds() const {
    return ready_ && association_->guard() != nullptr &&
           association_->guard()->state() == GuardState::kHeld;
  }
  // A reservation command with two keys; whether it succeeded.
  bool run(std::uint8_t opcode, std::uint32_t dword10, std::uint64_t key, std::uint64_t other) {
    ReservationKeys keys{key, other};
    const iovec piece{&keys, sizeof keys};
    bool done = false;
    QueueCommand command;
    command.sqe.opcode = opcode;
    command.sqe.namespace_id = 1;
    command.sqe.dwords10[0] = dword10;
    command.direction = DataDirection::kFromHost;
    command.data_bytes = sizeof keys;
    command.pieces = {&piece, 1};
    command.context = &done;
    command.on_done = [](QueueCommand& c) { *static_cast<bool*>(c.context) = true; };
    association_->pick_queue()->submit(command);
    while (!done) loop_.turn();
    return command.result.has_value();
  }

 private:
  void on_ready(Association&) override { ready_ = true; }
  void on_ended(Association&) override { ended_ = true; }

  io::Loop& loop_;
  std::unique_ptr<Association> association_;
  bool ready_ = false;
  bool ended_ = false;
};

class FabricGuard : public testing::Test {
 protected:
  Result<std::unique_ptr<FabricDevice>> open(int host, bool write = true) {
    FabricOptions options = target_.options();
    options.association.host.id.fill(static_cast<std::byte>(host));
    options.write = write;
    return FabricDevice::open(loop_, options);
  }
  Result<std::size_t> write(FabricDevice& device) {
    return loop_.run(block::do_write(&device, 0, {{page_.get(), kBlock}}));
  }
  Result<std::size_t> read(FabricDevice& device) {
    return loop_.run(block::do_read(&device, 0, {{page_.get(), kBlock}}));
  }
  void pass(Nanos span) {
    const Nanos until = loop_.now() + span;
    while (loop_.now() < until) loop_.turn();
  }

  io::SimEngine engine_{io::SimOptions{.seed = 31}};
  io::Loop loop_{engine_};
  std::unique_ptr<block::Device> disk_ = block::make_memory_device(loop_, {.size_bytes = 8 * kMiB});
  TestTarget target_{loop_, *disk_};
  block::Memory page_ = block::pages(1);
};

TEST_F(FabricGuard, ASecondWriterIsRefusedUntilTheFirstCloses) {
  auto first = open(1).value();
  const Nanos start = loop_.now();
  const auto second = open(2);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Errc::kExists);
  EXPECT_GE(loop_.now() - start,
            std::chrono::seconds(1));  // as long as a file's lock is waited for
  EXPECT_LT(loop_.now() - start, std::chrono::seconds(2));
  EXPECT_TRUE(write(*first));
  first.reset();
  const auto third = open(3);
  ASSERT_TRUE(third);
  EXPECT_TRUE(write(**third));
}

TEST_F(FabricGuard, ReadersNeedNothingAndKeepNobodyOut) {
  auto reader = open(1, false).value();
  auto writer = open(2).value();
  auto second_reader = open(3, false).value();
  EXPECT_TRUE(write(*writer));
  EXPECT_TRUE(read(*reader));
  EXPECT_TRUE(read(*second_reader));
}

TEST_F(FabricGuard, AWriterThatWasKilledIsTakenOverAtOnce) {
  Process killed(loop_, target_.options(), true);
  ASSERT_TRUE(killed.holds());
  EXPECT_EQ(open(1).error().code, Errc::kExists);
  killed.end();
  const Nanos start = loop_.now();
  const auto next = open(2);
  ASSERT_TRUE(next);
  EXPECT_LT(loop_.now() - start, std::chrono::milliseconds(500));
  EXPECT_TRUE(write(**next));
}

TEST_F(FabricGuard, AWriterThatIsPreemptedFailsItsWritesAndReadsOn) {
  auto device = open(1).value();
  ASSERT_TRUE(write(*device));
  Process other(loop_, target_.options(), false);
  ASSERT_TRUE(other.run(0x0D, 0, 0, 99));
  ASSERT_TRUE(other.run(0x11, 0x101, 99, 0x0101010101010101));
  EXPECT_EQ(write(*device).error().code, Errc::kExists);
  EXPECT_EQ(write(*device).error().code, Errc::kExists);
  EXPECT_EQ(loop_.run(block::do_flush(device.get())).error().code, Errc::kExists);
  EXPECT_TRUE(read(*device));
  EXPECT_EQ(device->counters().retries, 0U);
}

TEST_F(FabricGuard, AfterARestartTheFirstOneBackHoldsItAgain) {
  auto device = open(1).value();
  target_.stop({});
  pass(std::chrono::seconds(1));
  target_.start(*disk_);
  ASSERT_TRUE(write(*device));
  EXPECT_EQ(open(2).error().code, Errc::kExists);
}

TEST_F(FabricGuard, WhoComesBackAfterAnotherWriterWritesNoMore) {
  auto device = open(1).value();
  target_.stop({});
  pass(std::chrono::seconds(3));
  target_.start(*disk_);
  auto other = open(2).value();
  EXPECT_TRUE(write(*other));
  other.reset();  // it has left, but it has written
  EXPECT_EQ(write(*device).error().code, Errc::kExists);
  EXPECT_TRUE(read(*device));
  device.reset();
  EXPECT_TRUE(open(1));
}

TEST_F(FabricGuard, WritesThatWaitedForTheConnectionFailIfTheGuardIsLost) {
  auto device = open(1).value();
  target_.stop({});
  pass(std::chrono::seconds(3));
  iovec piece{page_.get(), kBlock};
  block::Request request;
  request.kind = block::RequestKind::kWrite;
  request.length_bytes = kBlock;
  request.buffers = {&piece, 1};
  bool done = false;
  request.context = &done;
  request.on_done = [](block::Request& r) { *static_cast<bool*>(r.context) = true; };
  device->submit(request);
  target_.start(*disk_);
  auto other = open(2).value();
  while (!done) loop_.turn();
  EXPECT_EQ(request.done_bytes.error().code, Errc::kExists);
}

// A disk that was made anew under the same name, by a target that was started again.
TEST_F(FabricGuard, AnotherDiskInItsPlaceIsNeitherWrittenNorRead) {
  for (const bool writes : {true, false}) {
    SCOPED_TRACE(writes);
    auto device = open(1, writes).value();
    if (writes) {
      ASSERT_TRUE(write(*device));
    }
    target_.stop(Nanos{0});
    target_.nguid.fill(writes ? std::byte{7} : std::byte{8});
    auto other = block::make_memory_device(loop_, {.size_bytes = 8 * kMiB});
    target_.start(*other);
    const Nanos start = loop_.now();
    if (writes) {
      std::memset(page_.get(), 0x77, kBlock);
      EXPECT_EQ(write(*device).error().code, Errc::kExists);
      EXPECT_LT(loop_.now() - start, std::chrono::seconds(2));
    }
    EXPECT_FALSE(read(*device));
    device.reset();
    block::Memory seen = block::pages(1);
    ASSERT_TRUE(loop_.run(block::do_read(other.get(), 0, {{seen.get(), kBlock}})));
    EXPECT_EQ(std::ranges::count(std::span(seen.get(), kBlock), std::byte{0x77}), 0);
    target_.stop(Nanos{0});
    target_.start(*disk_);
  }
}

}  // namespace
}  // namespace forebay::nvme::initiator
