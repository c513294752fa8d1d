// Counts what really went through a device: each byte once, when its request was done.
//
// Ownership: owns the device below and one small record a request in flight; borrows the meter. The
// caller's Request stays the caller's; the device below sees a copy. Threads: the device's loop.
#pragma once

#include <memory>

#include "block/device.h"
#include "joint/traffic.h"

namespace forebay::joint {

// Bytes count from `origin` on; while it is kForever nothing is counted.
struct DeviceMeter {
  Nanos origin = kForever;
  TrafficMeter traffic;
};

[[nodiscard]] std::unique_ptr<block::Device> make_metered(std::unique_ptr<block::Device> below,
                                                          DeviceMeter* meter);

}  // namespace forebay::joint
