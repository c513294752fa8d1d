// Log lines to standard error: level by FOREBAY_LOG (trace, debug, info, warn, error, off; default
// info). spdlog stays behind log.cc because its headers cost seconds a file.
//
// Threads: safe from any. Data-path code logs rare events only; use LogOnce for "said once" lines.
#pragma once

#include <fmt/core.h>

#include <atomic>
#include <cstdint>
#include <string_view>

namespace forebay {

enum class LogLevel : std::uint8_t { kTrace, kDebug, kInfo, kWarn, kError, kOff };

// Control characters of a line are escaped (core/printable.h): names cannot forge another line.
[[nodiscard]] bool log_enabled(LogLevel level);
void set_log_level(LogLevel level);
void log_line(LogLevel level, std::string_view text);

template <class... Args>
void log_at(LogLevel level, fmt::format_string<Args...> format, Args&&... args) {
  if (log_enabled(level)) log_line(level, fmt::format(format, std::forward<Args>(args)...));
}
template <class... Args>
void log_debug(fmt::format_string<Args...> format, Args&&... args) {
  log_at(LogLevel::kDebug, format, std::forward<Args>(args)...);
}
template <class... Args>
void log_info(fmt::format_string<Args...> format, Args&&... args) {
  log_at(LogLevel::kInfo, format, std::forward<Args>(args)...);
}
template <class... Args>
void log_warn(fmt::format_string<Args...> format, Args&&... args) {
  log_at(LogLevel::kWarn, format, std::forward<Args>(args)...);
}
template <class... Args>
void log_error(fmt::format_string<Args...> format, Args&&... args) {
  log_at(LogLevel::kError, format, std::forward<Args>(args)...);
}

// True the first time only: `static LogOnce once; if (once.first()) log_warn(...)`.
class LogOnce {
 public:
  [[nodiscard]] bool first() { return !said_.exchange(true, std::memory_order_relaxed); }

 private:
  std::atomic<bool> said_{false};
};

}  // namespace forebay
