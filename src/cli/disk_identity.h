// What tells one disk of a target from another that has taken its place under the same name.
#pragma once

#include <string>

namespace forebay::cli {

// Of a regular file: its file system, inode and time of birth, so that a file that was made anew
// is another one. "": no regular file, or none that can be looked at.
[[nodiscard]] std::string disk_identity(const std::string& path);

}  // namespace forebay::cli
