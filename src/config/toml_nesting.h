// How deep a TOML text nests, told before it is parsed: the library's tables are freed by
// recursion, and keys of 100,000 dots would need more stack than there is.
//
// Strings and comments are passed over as the parser does. Pure; threads: any.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace forebay::config {

// Brackets within brackets, and words of one dotted key: far more than a specification has.
inline constexpr std::size_t kTomlLevelsMax = 32;

// The first line (from 1) that has more levels than kTomlLevelsMax; 0: none.
[[nodiscard]] std::uint64_t line_nested_too_deep(std::string_view toml);

}  // namespace forebay::config
