#include "config/resolve_path.h"

#include <filesystem>

namespace forebay::config {

std::string resolve_path(const std::string& document_file, const std::string& path) {
  const std::filesystem::path given(path);
  if (given.is_absolute()) return path;
  return (std::filesystem::path(document_file).parent_path() / given).lexically_normal().string();
}

}  // namespace forebay::config
