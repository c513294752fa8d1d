// Names and identities of hosts, subsystems and namespaces. Pure.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace forebay::nvme {

// An NVMe qualified name (Base Specification 2.0, 4.5): "nqn." and at most 223 bytes in all.
[[nodiscard]] bool is_nqn(std::string_view text);

using Uuid = std::array<std::byte, 16>;
// The same text gives the same identity: a version 8 UUID (RFC 9562) of its SHA-256.
[[nodiscard]] Uuid uuid_of(std::string_view text);

}  // namespace forebay::nvme
