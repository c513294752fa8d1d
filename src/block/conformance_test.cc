// The promise of every device (device_conformance_testing.h), and what each decorator adds.
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "block/device_conformance_testing.h"
#include "block/device_url.h"
#include "block/faulty.h"
#include "block/file.h"
#include "block/memory.h"
#include "block/scheduled.h"
#include "block/stripe.h"
#include "block/throttled.h"
#include "core/bytes.h"
#include "io/engine.h"
#include "io/sim.h"

namespace forebay::block {
namespace {

// A simulated world: engine, loop, and devices made on it.
struct World {
  io::SimEngine engine{io::SimOptions{.seed = 3}};
  io::Loop loop{engine};
  std::vector<std::unique_ptr<Device>> kept;  // below a borrowed decorator

  std::unique_ptr<Device> file(const std::string& path, std::uint64_t size = 8 * kMiB) {
    auto made = open_file_device(loop, path, {.size_bytes = size, .write = true, .create = true});
    EXPECT_TRUE(made.has_value());
    return std::move(*made);
  }
};

struct SimKind {
  const char* name;
  std::function<std::unique_ptr<Device>(World&)> make;
};

class SimWorld final : public ConformanceWorld {
 public:
  explicit SimWorld(const SimKind& kind) : kind_(kind) {}
  [[nodiscard]] io::Loop& loop() override { return world_.loop; }
  [[nodiscard]] std::unique_ptr<Device> make_device() override { return kind_.make(world_); }

 private:
  SimKind kind_;
  World world_;
};

// Real files, as the product opens them: O_DIRECT where the file system takes it.
struct FileKind {
  const char* name;
  io::EngineChoice engine;
  std::size_t parts = 1;
};

class FileWorld final : public ConformanceWorld {
 public:
  explicit FileWorld(const FileKind& kind)
      : engine_(std::move(*io::make_engine(kind.engine))), loop_(*engine_) {
    for (std::size_t part = 0; part < kind.parts; ++part) {
      paths_.push_back(testing::TempDir() + "forebay-device-" + std::to_string(getpid()) + "-" +
                       kind.name + std::to_string(part));
    }
  }
  ~FileWorld() override {
    for (const std::string& path : paths_) std::filesystem::remove(path);
  }
  [[nodiscard]] io::Loop& loop() override { return loop_; }
  [[nodiscard]] std::unique_ptr<Device> make_device() override {
    std::vector<std::unique_ptr<Device>> parts;
    for (const std::string& path : paths_) {
      auto made =
          open_file_device(loop_, path, {.size_bytes = 8 * kMiB, .write = true, .create = true});
      EXPECT_TRUE(made.has_value());
      parts.push_back(std::move(*made));
    }
    if (parts.size() == 1) return std::move(parts[0]);
    return std::move(*make_stripe(std::move(parts), 64 * kKiB));
  }

 private:
  std::unique_ptr<io::Engine> engine_;
  io::Loop loop_;
  std::vector<std::string> paths_;
};

std::vector<DeviceKind> file_kinds() {
  static const FileKind all[]{{"uring", io::EngineChoice::kAuto},
                              {"posix", io::EngineChoice::kPosix},
                              {"uring_stripe", io::EngineChoice::kAuto, 3}};
  std::vector<DeviceKind> made;
  for (const FileKind& kind : all) {
    made.push_back({kind.name, [&kind] { return std::make_unique<FileWorld>(kind); }});
  }
  return made;
}

INSTANTIATE_TEST_SUITE_P(Files, DeviceConformance, testing::ValuesIn(file_kinds()),
                         [](const auto& kind) { return std::string(kind.param.name); });

std::vector<DeviceKind> kinds() {
  static const std::vector<SimKind> all{
      {"memory", [](World& w) { return make_memory_device(w.loop, {.size_bytes = 8 * kMiB}); }},
      {"file", [](World& w) { return w.file("a"); }},
      {"stripe",
       [](World& w) {
         std::vector<std::unique_ptr<Device>> parts;
         for (const char* path : {"a", "b", "c"}) parts.push_back(w.file(path));
         return std::move(*make_stripe(std::move(parts), 64 * kKiB));
       }},
      {"throttled",
       [](World& w) {
         return make_throttled(w.file("a"), {.read_bytes_per_second = 1e9, .latency = Nanos(1000)});
       }},
      {"faulty",
       [](World& w) -> std::unique_ptr<Device> { return FaultyDevice::make(w.file("a"), 1); }},
      {"scheduled", [](World& w) -> std::unique_ptr<Device> {
         w.kept.push_back(w.file("a"));
         return ScheduledDevice::make(w.kept.back().get(), {});
       }}};
  std::vector<DeviceKind> made;
  for (const SimKind& kind : all) {
    made.push_back({kind.name, [&kind] { return std::make_unique<SimWorld>(kind); }});
  }
  return made;
}

INSTANTIATE_TEST_SUITE_P(Devices, DeviceConformance, testing::ValuesIn(kinds()),
                         [](const auto& kind) { return std::string(kind.param.name); });

TEST(Throttled, TakesAtLeastTheTimeOfItsRateAndLatency) {
  World world;
  const auto device = make_throttled(
      world.file("a"), {.read_bytes_per_second = 1e6, .latency = std::chrono::milliseconds(5)});
  const Memory memory = pages(25);
  const Nanos start = world.loop.now();
  for (int i = 0; i < 4; ++i) {
    ASSERT_TRUE(world.loop.run(do_read(device.get(), 0, {{memory.get(), 25 * kPage}})));
  }
  // 4 x 102,400 bytes at 1 MB/s, and each read waits its latency.
  EXPECT_NEAR(std::chrono::duration<double>(world.loop.now() - start).count(), 0.4096 + 0.02,
              0.002);
}

TEST(Throttled, TakesTheTimeOfItsOperationsAndOfItsWrites) {
  World world;
  const auto device = make_throttled(world.file("a"),
                                     {.write_bytes_per_second = 1e6, .operations_per_second = 100});
  const Memory memory = pages(25);
  const auto seconds_of = [&](std::size_t count, const auto& one) {
    const Nanos start = world.loop.now();
    for (std::size_t i = 0; i < count; ++i) EXPECT_TRUE(world.loop.run(one()));
    return std::chrono::duration<double>(world.loop.now() - start).count();
  };
  const auto small_read = [&] { return do_read(device.get(), 0, {{memory.get(), kPage}}); };
  EXPECT_NEAR(seconds_of(50, small_read), 0.50, 0.02);  // reads have no limit on bytes
  const auto write = [&] { return do_write(device.get(), 0, {{memory.get(), 25 * kPage}}); };
  EXPECT_NEAR(seconds_of(4, write), 0.41, 0.02);  // 4 x 102,400 bytes take longer than 4 of 100/s
}

TEST(Stripe, UsesEveryPartAndFailsWithAnyOfThem) {
  World world;
  std::vector<std::unique_ptr<Device>> parts;
  std::vector<FaultyDevice*> faulty;
  for (const char* path : {"a", "b"}) {
    auto made = FaultyDevice::make(world.file(path), 1);
    faulty.push_back(made.get());
    parts.push_back(std::move(made));
  }
  const auto stripe = std::move(*make_stripe(std::move(parts), 64 * kKiB));
  EXPECT_EQ(stripe->geometry().size_bytes, 16 * kMiB);
  const Memory memory = pages(64);
  faulty[1]->faults().add({.kind = io::FaultKind::kIoError, .count = 1});
  const auto failed = world.loop.run(do_read(stripe.get(), 0, {{memory.get(), 64 * kPage}}));
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, Errc::kIo);
  EXPECT_TRUE(world.loop.run(do_read(stripe.get(), 0, {{memory.get(), 64 * kPage}})));
  // Within one unit of the first part, the second is not asked.
  faulty[1]->set_vanished(true);
  EXPECT_TRUE(world.loop.run(do_read(stripe.get(), 0, {{memory.get(), kPage}})));
}

// A unit larger than what a part takes at once goes there in several pieces.
TEST(Stripe, KeepsToTheLeastTransferOfItsParts) {
  World world;
  std::vector<std::unique_ptr<Device>> parts;
  for (const std::uint32_t most : {124 * 1024U, 1024 * 1024U}) {
    parts.push_back(
        make_memory_device(world.loop, {.size_bytes = 8 * kMiB, .transfer_bytes_max = most}));
  }
  const auto stripe = std::move(*make_stripe(std::move(parts), 256 * kKiB));
  EXPECT_EQ(stripe->geometry().transfer_bytes_max, 248 * kKiB);
  const std::size_t count = 62;  // one request of the largest size, across the middle of a unit
  const Memory out = pages(count);
  for (std::size_t i = 0; i < count * kPage; ++i) out.get()[i] = static_cast<std::byte>(i / 512);
  const auto written =
      world.loop.run(do_write(stripe.get(), 128 * kKiB, {{out.get(), count * kPage}}));
  ASSERT_TRUE(written) << to_string(written.error());
  const Memory in = pages(count);
  ASSERT_TRUE(world.loop.run(do_read(stripe.get(), 128 * kKiB, {{in.get(), count * kPage}})));
  EXPECT_EQ(std::memcmp(in.get(), out.get(), count * kPage), 0);
}

TEST(Faulty, EachFaultDoesWhatItsNameSays) {
  World world;
  const auto device = FaultyDevice::make(world.file("a"), 9);
  const Memory ones = pages(8);
  std::memset(ones.get(), 1, 8 * kPage);
  const Memory back = pages(8);
  const auto strike = [&](io::FaultKind kind) {
    device->faults().clear();
    device->faults().add({.kind = kind, .count = 1});
  };
  const auto write_ones = [&] {
    return world.loop.run(do_write(device.get(), 0, {{ones.get(), 8 * kPage}}));
  };
  const auto read_back = [&](std::uint64_t offset = 0) {
    return world.loop.run(do_read(device.get(), offset, {{back.get(), 8 * kPage}}));
  };
  strike(io::FaultKind::kFull);
  EXPECT_EQ(write_ones().error().code, Errc::kNoSpace);
  strike(io::FaultKind::kReadOnly);
  EXPECT_EQ(write_ones().error().code, Errc::kReadOnly);
  strike(io::FaultKind::kLostWrite);
  EXPECT_TRUE(write_ones());
  EXPECT_TRUE(read_back());
  EXPECT_EQ(back.get()[0], std::byte{0});
  strike(io::FaultKind::kMisdirected);
  EXPECT_TRUE(write_ones());
  EXPECT_TRUE(read_back(8 * kPage));
  EXPECT_EQ(back.get()[0], std::byte{1});
  strike(io::FaultKind::kTornWrite);
  EXPECT_TRUE(write_ones());
  EXPECT_TRUE(read_back());
  EXPECT_EQ(back.get()[8 * kPage - 1], std::byte{0});
  device->faults().clear();
  EXPECT_TRUE(write_ones());
  strike(io::FaultKind::kBitRot);
  EXPECT_TRUE(read_back());
  EXPECT_NE(std::memcmp(back.get(), ones.get(), 8 * kPage), 0);
  EXPECT_TRUE(read_back());  // the image stayed whole
  EXPECT_EQ(std::memcmp(back.get(), ones.get(), 8 * kPage), 0);
  strike(io::FaultKind::kIoError);
  EXPECT_EQ(read_back().error().code, Errc::kIo);
  strike(io::FaultKind::kLatency);
  device->faults().clear();
  device->faults().add(
      {.kind = io::FaultKind::kLatency, .count = 1, .latency = std::chrono::seconds(2)});
  const Nanos start = world.loop.now();
  EXPECT_TRUE(read_back());
  EXPECT_GE(world.loop.now() - start, std::chrono::seconds(2));
  device->set_vanished(true);
  EXPECT_EQ(read_back().error().code, Errc::kGone);
  device->set_vanished(false);
  EXPECT_TRUE(read_back());
  EXPECT_EQ(device->faults().struck(io::FaultKind::kBitRot), 1U);
}

TEST(Faulty, AStuckRequestGoesOnWhenReleased) {
  World world;
  const auto device = FaultyDevice::make(world.file("a"), 9);
  device->faults().add({.kind = io::FaultKind::kStuck, .count = 1});
  const Memory memory = pages(1);
  iovec piece{memory.get(), kPage};
  bool done = false;
  Request request;
  request.length_bytes = kPage;
  request.buffers = std::span(&piece, 1);
  request.context = &done;
  request.on_done = [](Request& r) { *static_cast<bool*>(r.context) = true; };
  device->submit(request);
  for (int i = 0; i < 50; ++i) world.loop.turn();
  device->cancel(request);  // a stuck device gives nothing back
  EXPECT_FALSE(done);
  EXPECT_EQ(device->stuck_count(), 1U);
  device->release_stuck();
  while (!done) world.loop.turn();
  EXPECT_TRUE(request.done_bytes.has_value());
}

TEST(Scheduled, DropsAtItsDeadlineWhatStillWaits) {
  World world;
  const auto slow = make_throttled(world.file("a"), {.latency = std::chrono::seconds(10)});
  const auto device = ScheduledDevice::make(slow.get(), {.in_flight_bytes_max = kPage});
  const Memory memory = pages(2);
  std::array<iovec, 2> pieces{{{memory.get(), kPage}, {memory.get() + kPage, kPage}}};
  std::array<Request, 2> requests;
  std::array<bool, 2> done{};
  for (std::size_t i = 0; i < 2; ++i) {
    requests[i].length_bytes = kPage;
    requests[i].buffers = std::span(&pieces[i], 1);
    requests[i].context = &done[i];
    requests[i].on_done = [](Request& r) { *static_cast<bool*>(r.context) = true; };
  }
  requests[1].deadline = world.loop.now() + std::chrono::seconds(1);
  device->submit(requests[0]);
  device->submit(requests[1]);
  while (!done[1]) world.loop.turn();
  EXPECT_FALSE(done[0]);
  EXPECT_EQ(requests[1].done_bytes.error().code, Errc::kTimedOut);
  EXPECT_EQ(device->counters(OpClass::kDemand).timed_out, 1U);
  while (!done[0]) world.loop.turn();
  EXPECT_EQ(device->in_flight_bytes_reached(), kPage);
}

TEST(DeviceUrl, TakesPathsAndStripes) {
  EXPECT_EQ(parse_device_url("/data/kv.img")->paths, std::vector<std::string>{"/data/kv.img"});
  EXPECT_EQ(parse_device_url("file:x")->paths, std::vector<std::string>{"x"});
  const auto stripe = parse_device_url("stripe:/a,/b?unit=256K");
  ASSERT_TRUE(stripe);
  EXPECT_EQ(stripe->paths, (std::vector<std::string>{"/a", "/b"}));
  EXPECT_EQ(stripe->stripe_unit_bytes, 256 * kKiB);
}

TEST(DeviceUrl, ASchemeThatWasAddedOpensItsOwn) {
  World world;
  add_device_scheme({.prefix = "test+memory://",
                     .check =
                         [](std::string_view url) {
                           return url.ends_with("/") ? Status(fail(Errc::kInvalid, "test: no name"))
                                                     : Status();
                         },
                     .open = [](io::Loop& loop, const std::string& /*url*/,
                                const OpenDevice&) -> Result<std::unique_ptr<Device>> {
                       return make_memory_device(loop, {.size_bytes = kMiB});
                     }});
  EXPECT_TRUE(parse_device_url("test+memory://x")->paths.empty());
  EXPECT_EQ(parse_device_url("test+memory://").error().code, Errc::kInvalid);
  const auto opened = open_device(world.loop, "test+memory://x", {});
  ASSERT_TRUE(opened);
  EXPECT_EQ((*opened)->geometry().size_bytes, kMiB);
  EXPECT_TRUE(names_disk("test+memory://x"));
  EXPECT_TRUE(names_disk("/dev/nvme0n1"));
  EXPECT_FALSE(names_disk("./devices/a.img"));
  EXPECT_FALSE(names_disk("file:///data/a.img"));
}

TEST(DeviceUrl, RefusesTheRest) {
  for (const char* text :
       {"", "file:", "stripe:", "stripe:/a", "stripe:/a,", "stripe:/a,/a", "stripe:/a,/b?unit=3M",
        "stripe:/a,/b?unit=1K", "stripe:/a,/b?size=1M", "http://host/a", "stripe:/a,test://b"}) {
    const auto parsed = parse_device_url(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().code, Errc::kInvalid) << text;
  }
}

}  // namespace
}  // namespace forebay::block
