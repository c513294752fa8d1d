// Random requests while the target comes and goes, from a seed: every request ends once, and what
// is read is what was written.
#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "block/request_testing.h"
#include "core/rng.h"
#include "io/sim.h"
#include "nvme/initiator/fabric_testing.h"
#include "nvme/tls/tls_testing.h"

namespace forebay::nvme::initiator {
namespace {

constexpr std::size_t kBlock = 4096;
constexpr std::size_t kCells = 24;
constexpr std::size_t kCellBlocks = 12;  // 48 KiB: by transfer, and over several pieces

// A range of the disk with one request at a time, and what may be there.
struct Cell {
  std::size_t index = 0;
  block::Memory memory = block::pages(kCellBlocks);
  std::array<iovec, 3> pieces{};
  block::Request request;
  bool busy = false;
  int ended = 0;
  std::vector<std::uint8_t> may_hold{0};  // the last that is sure, then what may have taken effect
  std::uint8_t written = 0;
};

class RandomRun {
 public:
  explicit RandomRun(std::uint64_t seed)
      : rng_(seed),
        engine_(io::SimOptions{.seed = seed}),
        loop_(engine_),
        target_(loop_, *disk_, target_options_, tls_of(seed)) {
    FabricOptions options = target_.options();
    options.association.io_queues = static_cast<std::uint16_t>(1 + seed % 3);
    options.association.io_entries = static_cast<std::uint16_t>(2 + rng_.below(20));
    options.association.digests = digests_of(static_cast<std::uint8_t>(seed % 4));
    device_ = FabricDevice::open(loop_, options).value();
    for (std::size_t i = 0; i < kCells; ++i) cells_[i].index = i;
  }
  ~RandomRun() { device_.reset(); }
  static TestTls tls_of(std::uint64_t seed) {
    if (seed % 5 != 0) return {};
    return {.mode = tls::TlsMode::kRequired, .key = tls::tls_key(tls::kBoundKey32)};
  }

  void run() {
    for (int step = 0; step < 1500; ++step) {
      Cell& cell = cells_[rng_.below(kCells)];
      if (!cell.busy) {
        start(cell);
      } else if (rng_.chance(0.02)) {
        device_->cancel(cell.request);
      }
      if (rng_.chance(0.005)) {
        target_.stop({});
        pass(Nanos(static_cast<std::int64_t>(rng_.below(3'000'000'000))));
        target_.start(*disk_);
      }
      if (rng_.chance(0.5)) pass(Nanos(static_cast<std::int64_t>(rng_.below(1'000'000))));
    }
    for (const Cell& cell : cells_) {
      while (cell.busy) loop_.turn();
    }
    EXPECT_EQ(started_, ended_);
    EXPECT_GT(good_reads_, 50);
  }

 private:
  void pass(Nanos span) {
    const Nanos until = loop_.now() + span;
    while (loop_.now() < until) loop_.turn();
  }
  void start(Cell& cell) {
    const bool writes = rng_.chance(0.5);
    if (writes) cell.written = static_cast<std::uint8_t>(rng_.below(256));
    std::memset(cell.memory.get(), writes ? cell.written : 0xEE, kCellBlocks * kBlock);
    cell.pieces = {{{cell.memory.get(), kBlock},
                    {cell.memory.get() + kBlock, 7 * kBlock},
                    {cell.memory.get() + 8 * kBlock, 4 * kBlock}}};
    cell.request = block::Request{};
    cell.request.kind = writes ? block::RequestKind::kWrite : block::RequestKind::kRead;
    cell.request.offset_bytes = cell.index * kCellBlocks * kBlock;
    cell.request.length_bytes = kCellBlocks * kBlock;
    cell.request.buffers = cell.pieces;
    if (rng_.chance(0.2)) cell.request.deadline = loop_.now() + std::chrono::milliseconds(5);
    cell.request.context = this;
    cell.request.on_done = [](block::Request& request) {
      auto& self = *static_cast<RandomRun*>(request.context);
      self.on_done(self.cells_[request.offset_bytes / (kCellBlocks * kBlock)]);
    };
    cell.busy = true;
    ++started_;
    device_->submit(cell.request);
  }
  void on_done(Cell& cell) {
    ASSERT_TRUE(cell.busy);
    cell.busy = false;
    ++ended_;
    const bool ok = cell.request.done_bytes.has_value();
    if (cell.request.kind == block::RequestKind::kWrite) {
      if (ok) cell.may_hold.clear();
      cell.may_hold.push_back(cell.written);
      return;
    }
    if (!ok) return;
    ++good_reads_;
    // Of a write that was given back, any of its commands may have taken effect.
    for (std::size_t i = 0; i < kCellBlocks * kBlock; i += 512) {
      const auto found = static_cast<std::uint8_t>(cell.memory.get()[i]);
      ASSERT_NE(std::ranges::count(cell.may_hold, found), 0)
          << "cell " << cell.index << " at " << i;
    }
  }

  Rng rng_;
  io::SimEngine engine_;
  io::Loop loop_;
  std::unique_ptr<block::Device> disk_ = block::make_memory_device(
      loop_, {.size_bytes = 8 * kMiB, .latency = std::chrono::microseconds(300)});
  target::TargetOptions target_options_ = [] {
    target::TargetOptions options;
    options.limits.transfer_bytes_max = 16 * 1024;
    return options;
  }();
  TestTarget target_;
  std::unique_ptr<FabricDevice> device_;
  std::array<Cell, kCells> cells_;
  int started_ = 0;
  int ended_ = 0;
  int good_reads_ = 0;
};

class FabricRandom : public testing::TestWithParam<std::uint64_t> {};

TEST_P(FabricRandom, WhatIsReadWasWrittenWhileTheTargetComesAndGoes) {
  RandomRun(GetParam()).run();
}

INSTANTIATE_TEST_SUITE_P(Seeds, FabricRandom, testing::Range<std::uint64_t>(1, 21));

}  // namespace
}  // namespace forebay::nvme::initiator
