#include "nvme/tls/host_keys.h"

#include <utility>

namespace forebay::nvme::tls {

std::vector<Psk> find_psks(const HostKeys& keys, std::string_view identity) {
  std::vector<Psk> found;
  const auto named = parse_identity(identity);
  if (!named) return found;
  const auto key = keys.find(named->parties.host_nqn);
  if (key == keys.end() || key->second.hash() != named->hash) return found;
  for (const Derivation derivation : kDerivations) {
    auto psk = derive_psk(key->second, named->parties, named->version, derivation);
    if (psk && psk->identity == identity) found.push_back(std::move(*psk));
  }
  return found;
}

}  // namespace forebay::nvme::tls
