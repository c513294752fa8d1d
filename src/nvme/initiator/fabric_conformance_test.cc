// The promise of every block device, kept over loopback to our own target: in the simulator, and on
// the loops that the product runs on.
#include "block/device_conformance_testing.h"
#include "io/sim.h"
#include "nvme/initiator/fabric_testing.h"
#include "nvme/tls/tls_testing.h"

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
  std::string_view tls_key = {};  // empty: plain
};

fabric::TestTls tls_of(const FabricKind& kind) {
  if (kind.tls_key.empty()) return {};
  return {.mode = nvme::tls::TlsMode::kRequired, .key = nvme::tls::tls_key(kind.tls_key)};
}

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
  fabric::TestTarget target_{loop_, *disk_, {}, tls_of(kind_)};
};

std::vector<DeviceKind> fabric_kinds() {
  static const FabricKind all[]{
      {.name = "sim"},
      {.name = "sim_digests", .digests = {.header = true, .data = true}},
      {.name = "sim_queues", .queues = 4},
      {.name = "sim_one_at_a_time", .entries = 2},
      {.name = "uring", .simulated = false, .digests = {.data = true}, .queues = 2},
      {.name = "posix", .simulated = false, .engine = io::EngineChoice::kPosix},
      {.name = "sim_tls", .tls_key = nvme::tls::kBoundKey32},
      {.name = "sim_tls_digests",
       .digests = {.header = true, .data = true},
       .queues = 4,
       .tls_key = nvme::tls::kBoundKey48},
      {.name = "sim_tls_one_at_a_time", .entries = 2, .tls_key = nvme::tls::kPlainKey32},
      {.name = "uring_tls", .simulated = false, .queues = 2, .tls_key = nvme::tls::kBoundKey32},
      {.name = "posix_tls",
       .simulated = false,
       .engine = io::EngineChoice::kPosix,
       .tls_key = nvme::tls::kBoundKey48},
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
