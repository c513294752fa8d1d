#include "core/log.h"

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <cstdlib>
#include <string>

#include "core/printable.h"

namespace forebay {
namespace {

spdlog::level::level_enum to_spdlog(LogLevel level) {
  switch (level) {
    case LogLevel::kTrace:
      return spdlog::level::trace;
    case LogLevel::kDebug:
      return spdlog::level::debug;
    case LogLevel::kInfo:
      return spdlog::level::info;
    case LogLevel::kWarn:
      return spdlog::level::warn;
    case LogLevel::kError:
      return spdlog::level::err;
    case LogLevel::kOff:
      return spdlog::level::off;
  }
  return spdlog::level::info;
}

spdlog::logger& logger() {
  static const auto instance = [] {
    auto made = spdlog::stderr_color_mt("forebay");
    made->set_pattern("forebay: %^%l%$: %v");
    const char* wanted = std::getenv("FOREBAY_LOG");
    made->set_level(wanted == nullptr ? spdlog::level::info : spdlog::level::from_str(wanted));
    return made;
  }();
  return *instance;
}

}  // namespace

bool log_enabled(LogLevel level) { return logger().should_log(to_spdlog(level)); }
void set_log_level(LogLevel level) { logger().set_level(to_spdlog(level)); }
void log_line(LogLevel level, std::string_view text) {
  // One call is one line, whatever names from outside it holds.
  const std::string shown = printable(text);
  logger().log(to_spdlog(level), spdlog::string_view_t(shown.data(), shown.size()));
}

}  // namespace forebay
