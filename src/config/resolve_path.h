// Paths that a configuration names.
#pragma once

#include <string>

namespace forebay::config {

// `path` as the document means it: relative to the folder of its file. Pure.
[[nodiscard]] std::string resolve_path(const std::string& document_file, const std::string& path);

}  // namespace forebay::config
