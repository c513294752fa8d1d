// What helps when a device on another machine cannot be used.
#pragma once

#include <string>
#include <string_view>

#include "core/error.h"

namespace forebay::cli {

// Empty where the device is of this machine.
[[nodiscard]] std::string device_hint(std::string_view url, const Error& error);

}  // namespace forebay::cli
