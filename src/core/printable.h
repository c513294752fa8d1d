// Text from outside as it may be shown: what would move a cursor, hide text or begin a line of its
// own stands as an escape, so that no name from a file or a disk can forge what the program says.
//
// "a\nb\x1b[2J" is shown as `a\nb\x1b[2J`, letter by letter. Escaped are control characters, what
// is not UTF-8, line separators and marks that turn the direction of writing. Pure; threads: any.
#pragma once

#include <string>
#include <string_view>

namespace forebay {

[[nodiscard]] std::string printable(std::string_view text);

}  // namespace forebay
