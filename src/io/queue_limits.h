// What a disk's queue takes in one request, as the kernel tells it.
//
// Units: bytes. Threads: any. Blocking: yes, a few small reads of sysfs. Errors: none; a disk that
// tells nothing (tmpfs, overlays, other kernels) is an empty answer.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace forebay::io {

// The most bytes of one request to the disk with this device number, a partition's being its
// disk's: what the kernel sends at once (max_sectors_kb), else what the hardware takes
// (max_hw_sectors_kb). `sysfs` is "/sys" but for tests. At least 4 KiB, at most 1 GiB.
[[nodiscard]] std::optional<std::uint32_t> queue_transfer_bytes(const std::string& sysfs,
                                                                unsigned major, unsigned minor);

}  // namespace forebay::io
