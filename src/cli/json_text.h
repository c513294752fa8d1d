// A command's JSON as one line. Names that are no UTF-8, such as a file's, hold U+FFFD for each
// byte that is none: the library would throw.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace forebay::cli {

[[nodiscard]] inline std::string json_text(const nlohmann::ordered_json& json) {
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace forebay::cli
