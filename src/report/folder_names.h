// What stands in a result folder beside the files of its run.
//
// Nobody checks such files, and they change no figure: they are told of, not refused. Blocking: on
// the file system. Threads: any.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"

namespace forebay::report {

inline constexpr std::size_t kForeignNamesMax = 20;  // that are kept of one folder

struct ForeignNames {
  std::vector<std::string> names;  // the first by name; a folder ends in '/'
  std::size_t count = 0;
};

// All names in `folder` but `own`. Errors: kDenied and what else listing it meets.
[[nodiscard]] Result<ForeignNames> foreign_names(const std::string& folder,
                                                 std::span<const std::string_view> own);

// What `path` names when it is a symbolic link.
[[nodiscard]] std::optional<std::string> link_target(const std::string& path);

}  // namespace forebay::report
