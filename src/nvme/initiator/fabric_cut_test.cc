// A connection that breaks at any byte: nothing that was asked for fails, and nothing of the old
// connection lands after what came later.
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "block/request_testing.h"
#include "io/sim.h"
#include "nvme/initiator/cut_wire.h"
#include "nvme/initiator/fake_server.h"

namespace forebay::nvme::initiator {
namespace {

constexpr std::size_t kBlock = 4096;
constexpr Nanos kMoment = std::chrono::milliseconds(1);  // virtual, as all time here
constexpr Nanos kWithinTheFence = std::chrono::seconds(2);
constexpr std::size_t kLargeBlocks = 40;  // by transfer, in several commands

class Pages {
 public:
  Pages(std::size_t blocks, int value) : memory_(block::pages(blocks)), bytes_(blocks * kBlock) {
    std::memset(memory_.get(), value, bytes_);
  }
  [[nodiscard]] std::vector<iovec> pieces() const { return {{memory_.get(), bytes_}}; }
  [[nodiscard]] bool hold(int value) const {
    return std::all_of(memory_.get(), memory_.get() + bytes_,
                       [value](std::byte b) { return b == static_cast<std::byte>(value); });
  }

 private:
  block::Memory memory_;
  std::size_t bytes_;
};

// One run of the same requests, each from its own begin.
class CutRun {
 public:
  explicit CutRun(const std::optional<Cut>& cut) {
    target_.cache_epoch.fill(std::byte{1});
    target_.stop({});
    target_.start(*disk_);
    wire_.emplace(loop_, target_.port());
    FabricOptions options = target_.options();
    options.addresses = {loopback(wire_->port())};
    device_ = FabricDevice::open(loop_, options).value();
    opened_bytes_[0] = wire_->bytes(1, false);
    opened_bytes_[1] = wire_->bytes(1, true);
    if (cut) wire_->cut(*cut);
  }
  ~CutRun() {
    device_.reset();
    wire_.reset();
  }
  void run() {
    for (const int value : {1, 2}) {
      const Pages small(1, value);
      const Pages large(kLargeBlocks, value + 10);
      bool written = false;
      loop_.spawn(write_both(small, large, &written));
      while (!written) loop_.turn();
      EXPECT_TRUE(loop_.run(block::do_flush(device_.get())));
      const Pages small_back(1, 0xEE);
      const Pages large_back(kLargeBlocks, 0xEE);
      EXPECT_TRUE(loop_.run(block::do_read(device_.get(), 0, small_back.pieces())));
      EXPECT_TRUE(loop_.run(block::do_read(device_.get(), kBlock, large_back.pieces())));
      EXPECT_TRUE(small_back.hold(value));
      EXPECT_TRUE(large_back.hold(value + 10));
    }
  }
  // What was sent by the I/O queue after it was ready, up to a byte or a PDU's end.
  [[nodiscard]] std::set<std::size_t> places(bool to_target) const {
    std::set<std::size_t> places;
    std::size_t begin = opened_bytes_[to_target ? 1 : 0];
    for (const std::size_t end : wire_->boundaries(1, to_target)) {
      if (end <= begin) continue;
      for (const std::size_t at : {begin, begin + 1, (begin + end) / 2, end - 1}) places.insert(at);
      begin = end;
    }
    return places;
  }
  [[nodiscard]] bool was_cut() const { return wire_->was_cut(); }
  [[nodiscard]] std::uint64_t connections_lost() const {
    return device_->counters().connections_lost;
  }

 private:
  Task<void> write_both(const Pages& small, const Pages& large, bool* written) {
    bool other = false;
    loop_.spawn(write_one(0, small, &other));
    EXPECT_TRUE(co_await block::do_write(device_.get(), kBlock, large.pieces()));
    while (!other) co_await loop_.sleep_for(kMoment);
    *written = true;
  }
  Task<void> write_one(std::uint64_t offset, const Pages& pages, bool* written) {
    EXPECT_TRUE(co_await block::do_write(device_.get(), offset, pages.pieces()));
    *written = true;
  }

  io::SimEngine engine_{io::SimOptions{.seed = 41}};
  io::Loop loop_{engine_};
  std::unique_ptr<block::Device> disk_ = block::make_memory_device(loop_, {.size_bytes = 8 * kMiB});
  TestTarget target_{loop_, *disk_};
  std::optional<CutWire> wire_;
  std::unique_ptr<FabricDevice> device_;
  std::array<std::size_t, 2> opened_bytes_{};
};

class FabricCut : public testing::TestWithParam<bool> {};

TEST_P(FabricCut, AtAnyPlaceNoRequestFails) {
  const bool to_target = GetParam();
  std::set<std::size_t> places;
  {
    CutRun whole(std::nullopt);
    whole.run();
    places = whole.places(to_target);
  }
  EXPECT_GT(places.size(), 40U);
  for (const std::size_t at : places) {
    SCOPED_TRACE(at);
    CutRun run(Cut{.to_target = to_target, .after_bytes = at});
    run.run();
    EXPECT_TRUE(run.was_cut());
    EXPECT_EQ(run.connections_lost(), 1U);
    if (testing::Test::HasFailure()) return;
  }
}
INSTANTIATE_TEST_SUITE_P(Ways, FabricCut, testing::Bool());

class FabricFence : public testing::Test {
 protected:
  void open(std::uint16_t port) {
    wire_.emplace(loop_, port);
    FabricOptions options = target_.options();
    options.addresses = {loopback(wire_->port())};
    device_ = FabricDevice::open(loop_, options).value();
    // In the middle of the next capsule.
    wire_->cut({.after_bytes = wire_->bytes(1, true) + 1000, .deaf = true});
  }
  ~FabricFence() override {
    device_.reset();
    wire_.reset();
  }
  Result<std::size_t> write(int value) {
    const Pages pages(1, value);
    return loop_.run(block::do_write(device_.get(), 0, pages.pieces()));
  }
  bool holds(int value) {
    const Pages back(1, 0xEE);
    return loop_.run(block::do_read(device_.get(), 0, back.pieces())) && back.hold(value);
  }

  io::SimEngine engine_{io::SimOptions{.seed = 42}};
  io::Loop loop_{engine_};
  std::unique_ptr<block::Device> disk_ = block::make_memory_device(loop_, {.size_bytes = 8 * kMiB});
  TestTarget target_{loop_, *disk_};
  std::optional<CutWire> wire_;
  std::unique_ptr<FabricDevice> device_;
};

// The target does not see that the host is gone: the write goes again only when its keep-alive time
// is over, and so do those after it.
TEST_F(FabricFence, AWriteOfTheOldConnectionNeverLandsAfterALaterOne) {
  open(target_.port());
  const Nanos start = loop_.now();
  EXPECT_TRUE(write(1));
  EXPECT_TRUE(write(2));
  EXPECT_GE(loop_.now() - start, std::chrono::seconds(5));
  EXPECT_LT(loop_.now() - start, std::chrono::seconds(9));
  wire_->deliver();
  const Nanos until = loop_.now() + std::chrono::seconds(2);
  while (loop_.now() < until) loop_.turn();
  EXPECT_TRUE(holds(2));
}

// What is delivered while the fence stands is the same write.
TEST_F(FabricFence, AWriteThatLandsLateAndGoesAgainIsOneWrite) {
  open(target_.port());
  loop_.spawn([](io::Loop* loop, CutWire* wire) -> Task<void> {
    co_await loop->sleep_for(kWithinTheFence);
    wire->deliver();
  }(&loop_, &*wire_));
  EXPECT_TRUE(write(1));
  EXPECT_TRUE(holds(1));
  EXPECT_TRUE(write(2));
  EXPECT_TRUE(holds(2));
}

// A controller without reservations shows nothing of the old connection.
TEST_F(FabricFence, WithoutAFenceAWriteThatWasOnItsWayFailsAndTheNextDoesNot) {
  FakeDisk fake_disk;
  {
    FakeServer server(loop_, fake_disk, {});
    open(server.port());
    const auto lost = write(1);
    ASSERT_FALSE(lost);
    EXPECT_EQ(lost.error().code, Errc::kGone);
    EXPECT_TRUE(write(2));
    EXPECT_TRUE(holds(2));
    device_.reset();
    wire_.reset();
  }
}

}  // namespace
}  // namespace forebay::nvme::initiator
