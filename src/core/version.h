// The version of this build, as CMake's project() states it, and the commit that it was built from.
//
// Threads: any, once the program has said the commit.
#pragma once

#include <string_view>

namespace forebay {

[[nodiscard]] std::string_view version();

struct BuildCommit {
  std::string_view id = "unknown";  // 40 hexadecimal digits, where the sources were a git checkout
  bool modified = false;            // tracked files were changed since
};
// Said by main(), before anything else: tests and libraries have none, and are not linked again for
// a new one.
void set_build_commit(BuildCommit commit);
[[nodiscard]] BuildCommit build_commit();

}  // namespace forebay
