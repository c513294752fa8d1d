// The promise of every block device, kept over loopback to our own target: in the simulator, and on
// the loops that the product runs on.
#include "block/device_conformance_testing.h"
#include "io/sim.h"
#include "nvme/initiator/fabric_testing.h"

namespace forebay::block {
namespace {

namespace fabric = nvme::initiator;

struct FabricKind {
  const char* name;
  bool simulated = true;
  io::EngineChoice engine = io::EngineChoice::kAuto;
  nvme::Digests digests;
  std::uint16_t queues = 1;
  std::uint16_t entries = 128;
};

class FabricWorld final : public ConformanceWorld {
 public:
  explicit FabricWorld(const FabricKind& kind)
      : kind_(kind),
        engine_(kind.simulated ? std::make_unique<io::SimEngine>(io::SimOptions{.seed = 3})
                               : io::make_engine(kind.engine).value()),
        loop_(*engine_) {}
  [[nodiscard]] io::Loop& loop() override { return loop_; }
  [[nodiscard]] std::unique_ptr<Device> make_device() override {
    fabric::FabricOptions options = target_.options();
    options.association.digests = kind_.digests;
    options.association.io_queues = kind_.queues;
    options.association.io_entries = kind_.entries;
    auto opened = fabric::FabricDevice::open(loop_, options);
    EXPECT_TRUE(opened.has_value()) << to_string(opened.error());
    return std::move(*opened);
  }

 private:
  FabricKind kind_;
  std::unique_ptr<io::Engine> engine_;
  io::Loop loop_;
  std::unique_ptr<Device> disk_ = make_memory_device(loop_, {.size_bytes = 8 * kMiB});
  fabric::TestTarget target_{loop_, *disk_};
};

std::vector<DeviceKind> fabric_kinds() {
  static const FabricKind all[]{
      {.name = "sim"},
      {.name = "sim_digests", .digests = {.header = true, .data = true}},
      {.name = "sim_queues", .queues = 4},
      {.name = "sim_one_at_a_time", .entries = 2},
      {.name = "uring", .simulated = false, .digests = {.data = true}, .queues = 2},
      {.name = "posix", .simulated = false, .engine = io::EngineChoice::kPosix},
  };
  std::vector<DeviceKind> made;
  for (const FabricKind& kind : all) {
    made.push_back({kind.name, [&kind] { return std::make_unique<FabricWorld>(kind); }});
  }
  return made;
}

INSTANTIATE_TEST_SUITE_P(Fabric, DeviceConformance, testing::ValuesIn(fabric_kinds()),
                         [](const auto& kind) { return std::string(kind.param.name); });

}  // namespace
}  // namespace forebay::block
