// FOREBAY_CHECK: a promise between programmers, on in every build. Prints both sides and aborts.
//
// Use it for what only a bug in Forebay can break; bytes and requests from outside are never
// checked this way, they get an Error or a Diagnostic.
#pragma once

#include <fmt/core.h>

#include <string>
#include <type_traits>

namespace forebay::detail {

[[noreturn]] void check_failed(const char* file, int line, const char* expression,
                               const std::string& values);

template <class T>
auto printable(const T& value) {
  if constexpr (std::is_enum_v<T>) {
    return static_cast<std::underlying_type_t<T>>(value);
  } else if constexpr (fmt::is_formattable<T>::value) {
    return value;
  } else {
    return "?";
  }
}

template <class A, class B>
[[noreturn]] void compare_failed(const char* file, int line, const char* expression, const A& a,
                                 const B& b) {
  check_failed(file, line, expression, fmt::format("{} vs {}", printable(a), printable(b)));
}

}  // namespace forebay::detail

#define FOREBAY_CHECK(condition)                                           \
  do {                                                                     \
    if (!(condition)) [[unlikely]]                                         \
      ::forebay::detail::check_failed(__FILE__, __LINE__, #condition, ""); \
  } while (false)

#define FOREBAY_CHECK_OP(a, op, b)                                                         \
  do {                                                                                     \
    const auto& check_left = (a);                                                          \
    const auto& check_right = (b);                                                         \
    if (!(check_left op check_right)) [[unlikely]]                                         \
      ::forebay::detail::compare_failed(__FILE__, __LINE__, #a " " #op " " #b, check_left, \
                                        check_right);                                      \
  } while (false)

#define FOREBAY_CHECK_EQ(a, b) FOREBAY_CHECK_OP(a, ==, b)
#define FOREBAY_CHECK_LT(a, b) FOREBAY_CHECK_OP(a, <, b)
#define FOREBAY_CHECK_LE(a, b) FOREBAY_CHECK_OP(a, <=, b)
