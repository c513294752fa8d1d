// Counts what really went through a device, each byte once, when its request was done, and can be
// cut off: a device that holds requests for too long then gives them back.
//
// Ownership: owns the device below and one small record a request in flight; borrows the meter. The
// caller's Request stays the caller's; the device below sees a copy. Threads: the device's loop.
#pragma once

#include <memory>

#include "block/device.h"
#include "joint/traffic.h"

namespace forebay::joint {

// Bytes count from `origin` on; while it is kForever none are. Requests always count.
struct DeviceMeter {
  Nanos origin = kForever;
  TrafficMeter traffic;
  std::uint64_t in_flight_requests = 0;
  std::uint64_t ended_requests = 0;
};

class MeteredDevice : public block::Device {
 public:
  // For good: what is in flight below is cancelled, what still comes ends with kCancelled at once.
  // Completions may run inside the call; none of them may destroy this device.
  virtual void cut() = 0;
};

[[nodiscard]] std::unique_ptr<MeteredDevice> make_metered(std::unique_ptr<block::Device> below,
                                                          DeviceMeter* meter);

}  // namespace forebay::joint
