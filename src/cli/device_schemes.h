// The kinds of devices that every command knows beside files, disks and stripes.
#pragma once

namespace forebay::cli {

// Once, before a command runs.
void add_device_schemes();

}  // namespace forebay::cli
