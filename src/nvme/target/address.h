// A numeric address and port as the system wants them.
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <string>

#include "core/error.h"
#include "nvme/target/discovery.h"

namespace forebay::nvme::target {

struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t bytes = 0;
  AddressFamily family = AddressFamily::kIpv4;
};

// kInvalid: `host` is neither an IPv4 nor an IPv6 address in numbers.
[[nodiscard]] Result<SocketAddress> make_address(const std::string& host, std::uint16_t port);

}  // namespace forebay::nvme::target
