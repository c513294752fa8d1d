// A device in memory: for tests and for measuring the software alone.
//
// Completes each request on the loop's next turn, after `latency` if there is one, in order.
// Sparse: a page takes memory once it is written. Contents last as long as the device.
#pragma once

#include <memory>

#include "block/device.h"

namespace forebay::block {

struct MemoryOptions {
  std::uint64_t size_bytes = 64 << 20;
  std::uint32_t align_bytes = 4096;
  std::uint32_t transfer_bytes_max = 16 << 20;
  Nanos latency{0};
};
[[nodiscard]] std::unique_ptr<Device> make_memory_device(io::Loop& loop,
                                                         const MemoryOptions& options);

}  // namespace forebay::block
