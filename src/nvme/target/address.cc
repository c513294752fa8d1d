#include "nvme/target/address.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <cstring>

namespace forebay::nvme::target {

Result<SocketAddress> make_address(const std::string& host, std::uint16_t port) {
  SocketAddress made;
  sockaddr_in four{};
  sockaddr_in6 six{};
  if (inet_pton(AF_INET, host.c_str(), &four.sin_addr) == 1) {
    four.sin_family = AF_INET;
    four.sin_port = htons(port);
    std::memcpy(&made.storage, &four, sizeof four);
    made.bytes = sizeof four;
  } else if (inet_pton(AF_INET6, host.c_str(), &six.sin6_addr) == 1) {
    six.sin6_family = AF_INET6;
    six.sin6_port = htons(port);
    std::memcpy(&made.storage, &six, sizeof six);
    made.bytes = sizeof six;
    made.family = AddressFamily::kIpv6;
  } else {
    return fail(Errc::kInvalid, "listen: the address is not numeric IPv4 or IPv6");
  }
  return made;
}

}  // namespace forebay::nvme::target
