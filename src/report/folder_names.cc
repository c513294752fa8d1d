#include "report/folder_names.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>

namespace forebay::report {

namespace fs = std::filesystem;

Result<ForeignNames> foreign_names(const std::string& folder,
                                   std::span<const std::string_view> own) {
  std::error_code error;
  std::set<std::string> names;
  std::size_t count = 0;
  fs::directory_iterator entry(folder, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    std::string name = entry->path().filename().string();
    if (std::ranges::find(own, name) != own.end()) continue;
    ++count;
    std::error_code ignored;
    const bool is_folder = fs::is_directory(entry->symlink_status(ignored));
    names.insert(is_folder ? std::move(name) + '/' : std::move(name));
    if (names.size() > kForeignNamesMax) names.erase(std::prev(names.end()));
  }
  if (error) return std::unexpected(error_from_errno(error.value(), "list the folder"));
  return ForeignNames{.names = {names.begin(), names.end()}, .count = count};
}

std::optional<std::string> link_target(const std::string& path) {
  std::error_code error;
  const fs::path target = fs::read_symlink(path, error);
  return error ? std::nullopt : std::optional(target.string());
}

}  // namespace forebay::report
