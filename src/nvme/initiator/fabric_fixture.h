// For tests: a target on the simulator, and blocks written to a device and read back.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <memory>

#include "block/request_testing.h"
#include "io/sim.h"
#include "nvme/initiator/fabric_testing.h"

namespace forebay::nvme::initiator {

class FabricFixture : public testing::Test {
 protected:
  // One block of `value` at `block`, and back.
  void write_and_compare(FabricDevice& device, std::uint64_t block, int value) {
    const block::Memory out = block::pages(1);
    const block::Memory back = block::pages(1);
    std::memset(out.get(), value, kBlock);
    EXPECT_TRUE(run(device, block::RequestKind::kWrite, block, out.get()));
    EXPECT_TRUE(run(device, block::RequestKind::kRead, block, back.get()));
    EXPECT_EQ(std::memcmp(out.get(), back.get(), kBlock), 0);
  }
  bool run(FabricDevice& device, block::RequestKind kind, std::uint64_t block, std::byte* memory) {
    iovec piece{memory, kBlock};
    bool done = false;
    block::Request request;
    request.kind = kind;
    request.offset_bytes = block * kBlock;
    request.length_bytes = kBlock;
    request.buffers = {&piece, 1};
    request.context = &done;
    request.on_done = [](block::Request& r) { *static_cast<bool*>(r.context) = true; };
    device.submit(request);
    while (!done) loop_.turn();
    return request.done_bytes.has_value();
  }

  static constexpr std::size_t kBlock = 4096;
  io::SimEngine engine_{{.seed = 5}};
  io::Loop loop_{engine_};
  std::unique_ptr<block::Device> disk_ =
      block::make_memory_device(loop_, {.size_bytes = 16 * kMiB, .transfer_bytes_max = 128 * 1024});
  TestTarget target_{loop_, *disk_};
};

}  // namespace forebay::nvme::initiator
