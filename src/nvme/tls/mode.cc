#include "nvme/tls/mode.h"

#include <array>

namespace forebay::nvme::tls {
namespace {

constexpr std::array kModes{TlsMode::kOff, TlsMode::kOptional, TlsMode::kRequired};

}  // namespace

std::string_view to_string(TlsMode mode) {
  constexpr std::array<std::string_view, 3> kNames{"off", "optional", "required"};
  return kNames[static_cast<std::size_t>(mode)];
}

std::optional<TlsMode> parse_mode(std::string_view name) {
  for (const TlsMode mode : kModes) {
    if (to_string(mode) == name) return mode;
  }
  return std::nullopt;
}

}  // namespace forebay::nvme::tls
