// Text files as wholes: read, begun, added to, replaced in one step.
//
// Blocking: on the file system. Threads: any. Errors: the system's, with errno; none leaves a part
// of a file behind that was not there before.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "core/error.h"

namespace forebay::report {

// kInvalid: a pipe, a device or a folder, which may have no end or wait for ever.
[[nodiscard]] Result<std::string> read_text(const std::string& path);
// Whatever `path` is, a pipe included; no more than `bytes_max` + 1 bytes of it.
[[nodiscard]] Result<std::string> read_text_up_to(const std::string& path, std::size_t bytes_max);

// kExists: there is one already. Of several processes that begin it, one succeeds.
[[nodiscard]] Status begin_file(const std::string& path, std::string_view text);
[[nodiscard]] Status append_file(const std::string& path, std::string_view text);
// The file is the old one or the new one, never a part: written beside, then renamed.
[[nodiscard]] Status replace_file(const std::string& path, std::string_view text);

}  // namespace forebay::report
