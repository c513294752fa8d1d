// What a command tells on standard error; the only way there but for progress lines.
//
// Texts among the arguments come from outside, names of files and of what is in them: they are
// shown as core/printable.h does. Where standard error takes nothing, nothing happens. Threads:
// any.
#pragma once

#include <fmt/core.h>

#include <string>
#include <string_view>
#include <type_traits>

#include "core/printable.h"

namespace forebay::cli {

// For lines that hold no text from outside, or hold it printable: Diagnostics::text(), hints.
void tell_lines(std::string_view lines);

namespace detail {
template <class T>
[[nodiscard]] decltype(auto) shown(const T& argument) {
  if constexpr (std::is_convertible_v<const T&, std::string_view>) {
    return printable(argument);
  } else {
    return (argument);
  }
}
}  // namespace detail

// The format has its own newlines: tell("{}: {}\n  hint: name another\n", path, reason).
template <class... Args>
void tell(fmt::format_string<Args...> format, Args&&... args) {
  tell_lines(fmt::vformat(format, fmt::make_format_args(detail::shown(args)...)));
}

}  // namespace forebay::cli
