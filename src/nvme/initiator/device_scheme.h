// nvme+tcp:// among the kinds of devices (block/device_scheme.h).
#pragma once

#include "block/device_scheme.h"

namespace forebay::nvme::initiator {

// Opening resolves the host's name and connects: seconds where nobody answers.
extern const block::DeviceScheme kDeviceScheme;

}  // namespace forebay::nvme::initiator
