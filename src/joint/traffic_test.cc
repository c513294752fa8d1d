#include "joint/traffic.h"

#include <gtest/gtest.h>

#include <array>

#include "block/memory.h"
#include "io/sim.h"
#include "joint/metered_device.h"

namespace forebay::joint {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(Traffic, BytesFallIntoTheSliceOfTheirInstant) {
  TrafficMeter meter;
  meter.add(milliseconds(0), 1, 0);
  meter.add(milliseconds(99), 2, 0);
  meter.add(milliseconds(100), 0, 4);
  meter.add(milliseconds(-5), 8, 0);
  ASSERT_EQ(meter.slices().size(), 2U);
  EXPECT_EQ(meter.slices()[0].read_bytes, 11U);
  EXPECT_EQ(meter.slices()[1].written_bytes, 4U);
}

TEST(Traffic, SlicesGrowInsteadOfTheirNumberAndNothingIsLost) {
  TrafficMeter meter;
  for (int second = 0; second < 1000; ++second) meter.add(seconds(second), 3, 1);
  EXPECT_LE(meter.slices().size(), TrafficMeter::kSlicesMax);
  EXPECT_EQ(meter.slice_length(), 32 * TrafficMeter::kFirstSlice / 1);
  EXPECT_EQ(meter.total().read_bytes, 3000U);
  EXPECT_EQ(meter.total().written_bytes, 1000U);
}

struct Bench {
  io::SimEngine engine{{}};
  io::Loop loop{engine};
  DeviceMeter meter;
  std::unique_ptr<block::Device> device =
      make_metered(block::make_memory_device(loop, {.latency = milliseconds(1)}), &meter);
  alignas(4096) std::array<std::byte, 8192> bytes{};
  iovec piece{bytes.data(), bytes.size()};
};

Task<void> write_and_read(Bench* bench) {
  const std::span<const iovec> pieces(&bench->piece, 1);
  const auto written = co_await block::write(*bench->device, 4096, pieces);
  EXPECT_EQ(written.value_or(0), 8192U);
  const auto read = co_await block::read(*bench->device, 4096, pieces);
  EXPECT_EQ(read.value_or(0), 8192U);
  EXPECT_TRUE(co_await block::flush(*bench->device));
}

TEST(MeteredDevice, CountsWhatTheDeviceMoved) {
  Bench bench;
  bench.meter.origin = bench.loop.now();
  bench.loop.run(write_and_read(&bench));
  EXPECT_EQ(bench.meter.traffic.total().read_bytes, 8192U);
  EXPECT_EQ(bench.meter.traffic.total().written_bytes, 8192U);
}

TEST(MeteredDevice, BeforeItsOriginNothingCounts) {
  Bench bench;
  bench.loop.run(write_and_read(&bench));
  EXPECT_EQ(bench.meter.traffic.total().written_bytes, 0U);
}

Task<void> read_past_the_end(Bench* bench) {
  const std::span<const iovec> pieces(&bench->piece, 1);
  const auto read =
      co_await block::read(*bench->device, bench->device->geometry().size_bytes, pieces);
  EXPECT_FALSE(read);
}

TEST(MeteredDevice, WhatWasRefusedIsNotCounted) {
  Bench bench;
  bench.meter.origin = bench.loop.now();
  bench.loop.run(read_past_the_end(&bench));
  EXPECT_EQ(bench.meter.traffic.total().read_bytes, 0U);
}

TEST(MeteredDevice, ACancelReachesTheDeviceBelow) {
  Bench bench;
  bench.meter.origin = bench.loop.now();
  block::Request request;
  request.kind = block::RequestKind::kRead;
  request.length_bytes = 8192;
  request.buffers = std::span(&bench.piece, 1);
  static int done_count;
  done_count = 0;
  request.on_done = [](block::Request&) { ++done_count; };
  bench.device->submit(request);
  bench.device->cancel(request);
  while (done_count == 0) bench.loop.turn();
  EXPECT_EQ(done_count, 1);
}

}  // namespace
}  // namespace forebay::joint
