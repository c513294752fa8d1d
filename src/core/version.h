// The version of this build, as CMake's project() states it.
#pragma once

#include <string_view>

namespace forebay {

[[nodiscard]] std::string_view version();

}  // namespace forebay
