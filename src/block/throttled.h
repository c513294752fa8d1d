// A slower device: bytes a second, operations a second and latency, as a limit on another device.
//
// A request starts below when the buckets allow and is done no earlier than `latency` after that.
// Used to stand in for a slow disk or network, and with `scale` for a fast one made proportionally
// slow. Works in true and in virtual time. Ownership: owns the device below when given one to own.
#pragma once

#include <memory>

#include "block/device.h"

namespace forebay::block {

struct ThrottleOptions {
  double read_bytes_per_second = 0;  // 0: no limit
  double write_bytes_per_second = 0;
  double operations_per_second = 0;
  Nanos latency{0};  // added to every read and write
};
[[nodiscard]] std::unique_ptr<Device> make_throttled(std::unique_ptr<Device> below,
                                                     const ThrottleOptions& options);

}  // namespace forebay::block
