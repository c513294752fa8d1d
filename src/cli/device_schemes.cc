#include "cli/device_schemes.h"

#include "block/device_scheme.h"
#include "nvme/initiator/device_scheme.h"

namespace forebay::cli {

// A new kind of device is a line here.
void add_device_schemes() { block::add_device_scheme(nvme::initiator::kDeviceScheme); }

}  // namespace forebay::cli
