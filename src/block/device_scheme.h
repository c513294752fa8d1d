// Kinds of devices that rooms above this one bring: the table of URL schemes.
//
//   block::add_device_scheme(nvme::initiator::kDeviceScheme);    // once, when the program starts
//   block::open_device(loop, "nvme+tcp://...", options);
//
// A new kind is a row in its own room and a line where programs start (cli/device_schemes.cc,
// client/c_abi.cc). Threads: rows are added before a device is opened; then any may look them up.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "block/device.h"

namespace forebay::block {

struct DeviceScheme {
  std::string_view prefix;  // "nvme+tcp://"
  // kInvalid: the text after the prefix is wrong; the error's literal names the part. Pure.
  Status (*check)(std::string_view url) = nullptr;
  // As open_device(); the device has the size it has, whatever `options` ask for.
  Result<std::unique_ptr<Device>> (*open)(io::Loop& loop, const std::string& url,
                                          const OpenDevice& options) = nullptr;
};

// A scheme that is there already stays as it is.
void add_device_scheme(const DeviceScheme& scheme);
// Whose prefix the text begins with; null: a path, a stripe, or of no known kind.
[[nodiscard]] const DeviceScheme* find_device_scheme(std::string_view url);

}  // namespace forebay::block
