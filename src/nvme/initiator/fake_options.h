// For tests: what a fake controller keeps, and everything that a controller may choose.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <vector>

namespace forebay::nvme::initiator {

// What the connections of one controller share.
struct FakeDisk {
  std::uint32_t block_bytes = 4096;
  std::vector<std::byte> bytes = std::vector<std::byte>(8 << 20);
  std::uint16_t queues_granted = 4;
  std::uint8_t transfer_power = 5;                // MDTS: 128 KiB
  std::uint32_t capsule_units = 260;              // IOCCSZ: 4096 bytes of data
  std::uint32_t keep_alives = 0;                  // seen
  std::vector<std::uint32_t> aborts;              // seen: dword 10
  std::function<bool(std::uint32_t)> on_abort;    // of dword 10; false: not aborted
  std::uint32_t zero_ready_polls = 2;             // CSTS.RDY is 0 so often
  std::map<std::uint8_t, std::uint32_t> opcodes;  // I/O commands seen
  std::uint32_t bytes_most = 0;                   // of one I/O command
};

struct FakeOptions {
  std::uint8_t digests = 0;
  std::uint8_t data_align = 0;  // CPDA
  std::uint32_t host_data_bytes_max = 4096;
  std::uint32_t ready_bytes = 10000;  // one R2T asks for at most so much
  std::uint32_t data_bytes = 5000;    // one C2HData has at most so much
  bool success_flag = true;
  std::uint16_t connect_status = 0;  // as on the wire
  std::uint64_t connect_result = 1;
  bool answers_io = true;
  std::uint32_t spoil_data_digest = 0;
};

// What Identify answers: namespace 0 is the controller itself.
inline std::vector<std::byte> identify_page(const FakeDisk& disk, std::uint32_t namespace_id,
                                            std::uint64_t controller_id) {
  std::vector<std::byte> page(4096);
  const auto put = [&page](std::size_t offset, const auto& value) {
    std::memcpy(&page[offset], &value, sizeof value);
  };
  if (namespace_id == 0) {
    std::memcpy(&page[24], "Fake disk           ", 20);
    put(77, disk.transfer_power);
    put(78, static_cast<std::uint16_t>(controller_id));
    put(320, std::uint16_t{10});
    put(520, std::uint16_t{4});
    put(525, std::uint8_t{1});
    put(536, std::uint32_t{1});
    put(1792, disk.capsule_units);
    put(1796, std::uint32_t{1});
  } else if (namespace_id == 1) {
    put(0, disk.bytes.size() / disk.block_bytes);
    put(26, std::uint8_t{1});
    put(134, static_cast<std::uint8_t>(std::countr_zero(disk.block_bytes)));
  }
  return page;
}

}  // namespace forebay::nvme::initiator
