// What to say when a device on another machine cannot be used.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/error.h"

namespace forebay::cli {

struct DeviceWords {
  std::string what;  // went wrong, in one line
  std::string hint;  // what helps
};

// Nothing where the device is of this machine.
[[nodiscard]] std::optional<DeviceWords> device_words(std::string_view url, const Error& error);

// What went wrong with a device of this machine. Where another process has it, the log's line has
// said so, and which.
[[nodiscard]] std::string local_failure(const Error& error);

}  // namespace forebay::cli
