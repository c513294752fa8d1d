// The TLS keys of the hosts that a target knows, by their NQNs. Pure.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "nvme/tls/psk.h"

namespace forebay::nvme::tls {

using HostKeys = std::map<std::string, TlsKey, std::less<>>;

// What may prove this identity, by the specification's derivation first; empty: nobody is called
// so, or with another key.
[[nodiscard]] std::vector<Psk> find_psks(const HostKeys& keys, std::string_view identity);

}  // namespace forebay::nvme::tls
