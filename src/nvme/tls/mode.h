// Whether a port speaks TLS. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace forebay::nvme::tls {

enum class TlsMode : std::uint8_t {
  kOff,
  kOptional,  // the host's first byte says which
  kRequired,
};
// "off", "optional", "required": as configurations write them.
[[nodiscard]] std::string_view to_string(TlsMode mode);
[[nodiscard]] std::optional<TlsMode> parse_mode(std::string_view name);

}  // namespace forebay::nvme::tls
