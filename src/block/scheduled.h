// The qos scheduler in front of a device: classes, tenants' shares and limits, depth in bytes.
//
// Requests wait here until the scheduler lets them go. One that is still waiting at its deadline is
// dropped with kTimedOut; one that the device has is the device's. Borrows the device below, until
// detach(): from then on it answers for itself and may outlive the device.
#pragma once

#include <array>
#include <memory>

#include "block/device.h"
#include "qos/scheduler.h"
#include "telemetry/histogram.h"

namespace forebay::block {

struct ClassCounters {
  std::uint64_t requests = 0;
  std::uint64_t bytes = 0;
  std::uint64_t timed_out = 0;      // while waiting here
  telemetry::Histogram wait_ns;     // before the device got it
  telemetry::Histogram service_ns;  // in the device
};

class ScheduledDevice : public Device {
 public:
  [[nodiscard]] static std::unique_ptr<ScheduledDevice> make(Device* below,
                                                             qos::SchedulerOptions options);
  virtual void set_limits(std::uint32_t tenant, const qos::TenantLimits& limits) = 0;
  [[nodiscard]] virtual const ClassCounters& counters(OpClass op_class) const = 0;
  [[nodiscard]] virtual std::uint64_t in_flight_bytes_reached() const = 0;
  [[nodiscard]] virtual std::size_t waiting() const = 0;
  // The device below gets nothing more: what waits here ends with kCancelled, as does what still
  // comes. Completions run inside the call.
  virtual void detach() = 0;
  // Requests that have not ended, waiting or below; it must not be destroyed while there are any.
  [[nodiscard]] virtual std::size_t pending() const = 0;
};

}  // namespace forebay::block
