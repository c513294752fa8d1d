// A file that cannot be a store for its size alone: too small for any, or a store that was cut
// short.
#pragma once

#include <string>
#include <vector>

namespace forebay::cli {

// Looks at the files that a device is made of; prints what is wrong with their size, with the
// remedy, and returns true, or false where the size is not the trouble. Blocking.
[[nodiscard]] bool explain_short_store(const std::string& url,
                                       const std::vector<std::string>& paths);

}  // namespace forebay::cli
