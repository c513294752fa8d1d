#include "io/sim.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <map>
#include <memory>
#include <vector>

#include "io/loop.h"

namespace forebay::io {
namespace {

constexpr std::size_t kPage = 4096;

struct FreeDeleter {
  void operator()(std::byte* p) const { std::free(p); }
};
using Memory = std::unique_ptr<std::byte, FreeDeleter>;
Memory pages(std::size_t count, int value = 0) {
  auto* raw = static_cast<std::byte*>(std::aligned_alloc(kPage, count * kPage));
  std::memset(raw, value, count * kPage);
  return Memory(raw);
}

// One engine on a disk, with a file of 64 pages.
struct Rig {
  explicit Rig(std::uint64_t seed, std::shared_ptr<SimDisk> disk = nullptr)
      : engine(SimOptions{.seed = seed}, std::move(disk)), loop(engine) {
    file = engine.open("disk", {.write = true, .create = true}).value();
    EXPECT_TRUE(engine.allocate(file, 64 * kPage));
  }
  Result<std::size_t> perform(OpKind kind, std::uint64_t page, const Memory& memory,
                              std::size_t count) {
    const std::array<iovec, 1> piece{{{memory.get(), count * kPage}}};
    Op op;
    op.kind = kind;
    op.file = file;
    op.offset_bytes = page * kPage;
    if (kind != OpKind::kFlush) op.buffers = piece;
    bool done = false;
    op.context = &done;
    op.on_done = [](Op& o) { *static_cast<bool*>(o.context) = true; };
    EXPECT_TRUE(engine.submit(op));
    for (int turn = 0; turn < 1000 && !done; ++turn) loop.turn();
    EXPECT_TRUE(done);
    return op.done_bytes;
  }
  Result<std::size_t> write(std::uint64_t page, const Memory& memory, std::size_t count) {
    return perform(OpKind::kWrite, page, memory, count);
  }
  Result<std::size_t> read(std::uint64_t page, const Memory& memory, std::size_t count) {
    return perform(OpKind::kRead, page, memory, count);
  }
  Result<std::size_t> flush() { return perform(OpKind::kFlush, 0, pages(1), 0); }
  void strike(FaultKind kind) {
    engine.faults().clear();
    engine.faults().add({.kind = kind, .count = 1});
  }

  SimEngine engine;
  Loop loop;
  FileId file = kNoFile;
};

TEST(SimEngine, SameSeedSameHistory) {
  const auto history = [](std::uint64_t seed) {
    Rig rig(seed);
    std::vector<std::int64_t> times;
    const Memory memory = pages(1, 1);
    for (std::uint64_t page = 0; page < 20; ++page) {
      EXPECT_TRUE(rig.write(page, memory, 1));
      times.push_back(rig.loop.now().count());
    }
    return times;
  };
  EXPECT_EQ(history(1), history(1));
  EXPECT_NE(history(1), history(2));
}

TEST(SimEngine, TimePassesByItsLatencyAndRate) {
  SimEngine engine({.latency = Nanos(1000), .jitter = Nanos(0), .bytes_per_second = 1e9});
  Loop loop(engine);
  const FileId file = engine.open("f", {.write = true, .create = true}).value();
  ASSERT_TRUE(engine.allocate(file, 64 * kPage));
  const Memory memory = pages(10);
  const std::array<iovec, 1> piece{{{memory.get(), 10 * kPage}}};
  Op op;
  op.kind = OpKind::kRead;
  op.file = file;
  op.buffers = piece;
  ASSERT_TRUE(engine.submit(op));
  const Nanos start = loop.now();
  while (op.state != OpState::kDone) loop.turn();
  EXPECT_EQ((loop.now() - start).count(), 1000 + 40'960);
}

TEST(SimEngine, FaultsDoWhatTheirNamesSayAndSpareTheImage) {
  Rig rig(5);
  const Memory ones = pages(4, 1);
  const Memory back = pages(4);
  ASSERT_TRUE(rig.write(0, ones, 4));
  rig.strike(FaultKind::kIoError);
  EXPECT_EQ(rig.read(0, back, 4).error().code, Errc::kIo);
  rig.strike(FaultKind::kShort);
  EXPECT_EQ(rig.read(0, back, 4).value(), 2 * kPage);
  rig.strike(FaultKind::kBitRot);
  ASSERT_TRUE(rig.read(0, back, 4));
  EXPECT_NE(std::memcmp(back.get(), ones.get(), 4 * kPage), 0);
  ASSERT_TRUE(rig.read(0, back, 4));
  EXPECT_EQ(std::memcmp(back.get(), ones.get(), 4 * kPage), 0);
  rig.strike(FaultKind::kFull);
  EXPECT_EQ(rig.write(8, ones, 4).error().code, Errc::kNoSpace);
  rig.strike(FaultKind::kReadOnly);
  EXPECT_EQ(rig.write(8, ones, 4).error().code, Errc::kReadOnly);
  rig.strike(FaultKind::kLostWrite);
  ASSERT_TRUE(rig.write(8, ones, 4));
  ASSERT_TRUE(rig.read(8, back, 4));
  EXPECT_EQ(back.get()[0], std::byte{0});
  rig.strike(FaultKind::kMisdirected);
  ASSERT_TRUE(rig.write(8, ones, 4));
  ASSERT_TRUE(rig.read(12, back, 4));
  EXPECT_EQ(back.get()[0], std::byte{1});
  rig.strike(FaultKind::kTornWrite);
  ASSERT_TRUE(rig.write(20, ones, 4));
  ASSERT_TRUE(rig.read(20, back, 4));
  EXPECT_EQ(back.get()[4 * kPage - 1], std::byte{0});
  for (const FaultKind kind : {FaultKind::kIoError, FaultKind::kBitRot, FaultKind::kTornWrite}) {
    EXPECT_EQ(rig.engine.faults().struck(kind), 1U) << to_string(kind);
  }
}

TEST(SimEngine, AVanishedDiskIsGoneUntilItReturns) {
  Rig rig(5);
  const Memory memory = pages(1, 1);
  rig.engine.set_vanished(true);
  EXPECT_EQ(rig.write(0, memory, 1).error().code, Errc::kGone);
  EXPECT_EQ(rig.engine.open("disk", {}).error().code, Errc::kGone);
  rig.engine.set_vanished(false);
  EXPECT_TRUE(rig.write(0, memory, 1));
}

TEST(SimEngine, AStuckOperationEndsWhenReleasedAndIgnoresCancel) {
  Rig rig(5);
  rig.strike(FaultKind::kStuck);
  const Memory memory = pages(1);
  const std::array<iovec, 1> piece{{{memory.get(), kPage}}};
  Op op;
  op.kind = OpKind::kRead;
  op.file = rig.file;
  op.buffers = piece;
  ASSERT_TRUE(rig.engine.submit(op));
  for (int i = 0; i < 100; ++i) rig.loop.turn();
  rig.engine.cancel(op);
  for (int i = 0; i < 100; ++i) rig.loop.turn();
  EXPECT_NE(op.state, OpState::kDone);
  rig.engine.release_stuck();
  for (int i = 0; i < 10; ++i) rig.loop.turn();
  EXPECT_EQ(op.state, OpState::kDone);
  EXPECT_EQ(op.done_bytes.value(), kPage);
}

TEST(SimEngine, FullMeansNoMoreIsAllocated) {
  Rig rig(5);
  rig.engine.disk().capacity_bytes = 100 * kPage;
  const auto refused = rig.engine.allocate(rig.file, 200 * kPage);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::kNoSpace);
}

// Over many seeds: what was flushed is always there; what was not is kept, torn or lost, and each
// of the three really happens.
TEST(SimEngine, APowerCutKeepsWhatWasFlushedAndOnlyThat) {
  std::map<std::string, int> fates;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    auto disk = std::make_shared<SimDisk>();
    const Memory ones = pages(4, 1);
    const Memory twos = pages(4, 2);
    {
      Rig rig(seed, disk);
      ASSERT_TRUE(rig.write(0, ones, 4));
      ASSERT_TRUE(rig.flush());
      rig.engine.cut_power_after_writes(1);
      ASSERT_TRUE(rig.write(8, twos, 4));
      EXPECT_EQ(rig.write(16, twos, 4).error().code, Errc::kGone);
      EXPECT_TRUE(rig.engine.power_is_cut());
      EXPECT_EQ(rig.flush().error().code, Errc::kGone);
    }
    Rig after(seed + 1000, disk);
    const Memory back = pages(4);
    ASSERT_TRUE(after.read(0, back, 4));
    EXPECT_EQ(std::memcmp(back.get(), ones.get(), 4 * kPage), 0);
    ASSERT_TRUE(after.read(8, back, 4));
    const bool first = back.get()[0] == std::byte{2};
    const bool last = back.get()[4 * kPage - 1] == std::byte{2};
    ++fates[first && last ? "kept" : first ? "torn" : "lost"];
  }
  EXPECT_GT(fates["kept"], 5);
  EXPECT_GT(fates["torn"], 5);
  EXPECT_GT(fates["lost"], 5);
}

TEST(SimFile, WhatWasFlushedStaysWhenItsPageIsWrittenAgain) {
  SimFile file;
  const std::vector<std::byte> first(kSimPageBytes, std::byte{1});
  const std::vector<std::byte> second(16, std::byte{2});
  file.write(0, first);
  file.flush();
  file.write(8, second);
  std::vector<std::byte> seen(1);
  file.read(8, seen);
  EXPECT_EQ(seen[0], std::byte{2});
  file.lose_unflushed();
  // Another write to that page becomes durable, not the lost one beside it.
  file.write(100, second);
  file.flush();
  Rng rng(1);
  file.crash(rng);
  file.read(8, seen);
  EXPECT_EQ(seen[0], std::byte{1});
  file.read(100, seen);
  EXPECT_EQ(seen[0], std::byte{2});
  file.corrupt(100, std::byte{4});
  file.crash(rng);
  file.read(100, seen);
  EXPECT_EQ(seen[0], std::byte{6});
}

TEST(SimFile, IsSparseAndTakesAGenerator) {
  SimFile file;
  file.size_bytes = std::uint64_t{10} << 40;
  file.generator = [](std::uint64_t offset, std::span<std::byte> bytes) {
    std::memset(bytes.data(), static_cast<int>(offset / kPage % 251), bytes.size());
  };
  std::array<std::byte, 16> bytes{};
  const std::uint64_t far = std::uint64_t{7} << 40;
  file.read(far, bytes);
  EXPECT_EQ(bytes[0], static_cast<std::byte>(far / kPage % 251));
  const std::array<std::byte, 1> nine{std::byte{9}};
  file.write(far + 3, nine);
  file.read(far, bytes);
  EXPECT_EQ(bytes[3], std::byte{9});
  EXPECT_EQ(bytes[4], static_cast<std::byte>(far / kPage % 251));
}

}  // namespace
}  // namespace forebay::io
