// Errors as values: a 16-byte, trivially copyable Error and std::expected around it.
//
// Three kinds of trouble are never mixed. Operating errors (a device fails, a deadline passes) are
// values of type Error. Programmer errors are FOREBAY_CHECK (core/check.h). User mistakes (flags,
// configuration, trace lines) are Diagnostics with a file, a line and a hint (core/diagnostics.h).
//
// Threads: every type here is a value. `what` points to a literal and never needs freeing.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace forebay {

// Named by what the caller should do, not by the module that failed.
enum class Errc : std::int32_t {
  kInvalid = 1,  // the argument or state is wrong: fix the call, a retry cannot help
  kNotFound,     // nothing there under that name: a miss
  kExists,       // already there, or owned by another process
  kBusy,         // a bounded queue or pool is full: try again after something completed
  kTimedOut,     // the deadline passed
  kCancelled,    // the caller took the request back
  kCorrupt,      // bytes did not prove themselves: treat as a miss, never use them
  kIo,           // the device reported a failure
  kNoSpace,      // capacity or quota is used up
  kReadOnly,     // the tier or device takes no writes at present
  kGone,         // the device or peer has vanished
  kUnsupported,  // this host, kernel or file system cannot do it
  kDenied,       // permission refused
  kVersion,      // a format or protocol of another version
};

[[nodiscard]] std::string_view to_string(Errc code);

// A string literal and nothing else, so that Error::what never dangles.
struct Literal {
  const char* text;
  consteval Literal(const char* t) : text(t) {}  // NOLINT(google-explicit-constructor)
};

struct Error {
  Errc code;
  std::int32_t os = 0;    // errno where the system said so, else 0
  const char* what = "";  // which step failed: a literal

  constexpr Error(Errc c, Literal step, std::int32_t os_code = 0)
      : code(c), os(os_code), what(step.text) {}
  friend bool operator==(const Error& a, const Error& b) {
    return a.code == b.code && a.os == b.os;
  }
};
static_assert(sizeof(Error) == 16 && std::is_trivially_copyable_v<Error>);

// "read segment header: Input/output error (io)"
[[nodiscard]] std::string to_string(const Error& error);

// Maps an errno to the Errc whose advice fits.
[[nodiscard]] Errc errc_from_errno(int os_code);
[[nodiscard]] inline Error error_from_errno(int os_code, Literal step) {
  return {errc_from_errno(os_code), step, os_code};
}

template <class T>
using Result = std::expected<T, Error>;
using Status = Result<void>;

[[nodiscard]] inline std::unexpected<Error> fail(Errc code, Literal step, int os_code = 0) {
  return std::unexpected(Error(code, step, os_code));
}

}  // namespace forebay

// Statement form: declares `name`, or returns the error. No statement expressions: see
// docs/STYLE.md.
#define FOREBAY_TRY(name, expr)                              \
  auto name##_or = (expr);                                   \
  if (!name##_or) return std::unexpected(name##_or.error()); \
  auto name = std::move(name##_or).value()
#define FOREBAY_TRY_STATUS(expr)               \
  if (auto status_or = (expr); !status_or) {   \
    return std::unexpected(status_or.error()); \
  }
#define FOREBAY_CO_TRY(name, expr)                              \
  auto name##_or = (expr);                                      \
  if (!name##_or) co_return std::unexpected(name##_or.error()); \
  auto name = std::move(name##_or).value()
#define FOREBAY_CO_TRY_STATUS(expr)               \
  if (auto status_or = (expr); !status_or) {      \
    co_return std::unexpected(status_or.error()); \
  }
