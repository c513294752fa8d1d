#include "nvme/initiator/device_scheme.h"

#include <netdb.h>

#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "core/log.h"
#include "nvme/auth/secret_file.h"
#include "nvme/initiator/fabric_device.h"
#include "nvme/initiator/fabric_url.h"
#include "nvme/initiator/host_identity.h"
#include "nvme/tls/psk_file.h"

namespace forebay::nvme::initiator {
namespace {

constexpr std::size_t kAddressesMax = 8;

// A name may have several addresses, "localhost" of both families: all are tried.
Result<std::vector<PeerAddress>> resolve(const FabricUrl& url) {
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = AI_NUMERICSERV;
  addrinfo* list = nullptr;
  if (getaddrinfo(url.host.c_str(), std::to_string(url.port).c_str(), &wanted, &list) != 0) {
    return fail(Errc::kNotFound, "nvme+tcp: the host's name has no address");
  }
  std::vector<PeerAddress> addresses;
  for (const addrinfo* at = list; at != nullptr; at = at->ai_next) {
    if (at->ai_addrlen > sizeof(sockaddr_storage) || addresses.size() == kAddressesMax) continue;
    PeerAddress address;
    std::memcpy(&address.storage, at->ai_addr, at->ai_addrlen);
    address.bytes = at->ai_addrlen;
    addresses.push_back(address);
  }
  freeaddrinfo(list);
  if (addresses.empty()) return fail(Errc::kNotFound, "nvme+tcp: the host's name has no address");
  return addresses;
}

Result<auth::Secret> read_key(const std::string& file) {
  auto secret = auth::read_secret_file(file);
  if (secret) return secret;
  log_warn("{}: {}; {}", file, to_string(secret.error()), auth::secret_hint(secret.error()));
  return fail(Errc::kDenied, "nvme+tcp: a key file is of no use; the warning says why");
}

// Null: the URL names no key.
Result<std::shared_ptr<const auth::Credentials>> read_keys(const FabricUrl& url) {
  if (url.key_file.empty()) return nullptr;
  FOREBAY_TRY(host_key, read_key(url.key_file));
  auth::Credentials keys{.host_key = std::move(host_key)};
  if (!url.controller_key_file.empty()) {
    FOREBAY_TRY(controller_key, read_key(url.controller_key_file));
    keys.controller_key = std::move(controller_key);
  }
  return std::make_shared<const auth::Credentials>(std::move(keys));
}

// Null: the URL names no key.
Result<std::shared_ptr<const tls::Psk>> read_psk(const FabricUrl& url,
                                                 const std::string& host_nqn) {
  if (url.tls_key_file.empty()) return nullptr;
  const auto key = tls::read_tls_key_file(url.tls_key_file);
  if (!key) {
    log_warn("{}: {}; {}", url.tls_key_file, to_string(key.error()),
             tls::tls_key_hint(key.error()));
    return fail(Errc::kDenied, "nvme+tcp: the TLS key file is of no use; the warning says why");
  }
  const auto version =
      url.tls_identity == 0 ? tls::IdentityVersion::kNames : tls::IdentityVersion::kDigest;
  const auto derivation = url.tls_compat ? tls::Derivation::kCompat : tls::Derivation::kSpec;
  FOREBAY_TRY(psk, tls::derive_psk(*key, {host_nqn, url.nqn}, version, derivation));
  return std::make_shared<const tls::Psk>(std::move(psk));
}

Status check(std::string_view url) {
  const auto parsed = parse_fabric_url(url);
  return parsed ? Status() : std::unexpected(parsed.error());
}

Result<std::unique_ptr<block::Device>> open(io::Loop& loop, const std::string& text,
                                            const block::OpenDevice& asked) {
  FOREBAY_TRY(url, parse_fabric_url(text));
  FOREBAY_TRY(keys, read_keys(url));
  const HostIdentity host = host_identity(url.host_nqn);
  FOREBAY_TRY(psk, read_psk(url, host.nqn));
  FOREBAY_TRY(addresses, resolve(url));
  FabricOptions options;
  options.name = text;
  options.addresses = addresses;
  options.write = asked.write;
  options.association.host = host;
  options.association.subsystem_nqn = url.nqn;
  options.association.credentials = keys;
  options.association.psk = psk;
  options.association.reauthenticate_every = std::chrono::seconds(url.reauth_s);
  options.association.namespace_id = url.nsid;
  options.association.io_queues = static_cast<std::uint16_t>(url.queues);
  options.association.io_entries = static_cast<std::uint16_t>(url.depth + 1);
  options.association.digests = url.digests;
  options.association.takeover = url.takeover;
  options.association.keep_alive = std::chrono::seconds(url.keep_alive_s);
  options.association.connect_time = std::chrono::seconds(url.timeout_s);
  options.association.command_time = std::chrono::seconds(url.timeout_s);
  FOREBAY_TRY(device, FabricDevice::open(loop, options));
  if (device->geometry().size_bytes < asked.size_bytes) {
    return fail(Errc::kNoSpace, "nvme+tcp: the namespace is smaller than the size asked for");
  }
  return std::unique_ptr<block::Device>(std::move(device));
}

}  // namespace

const block::DeviceScheme kDeviceScheme{.prefix = kUrlPrefix, .check = check, .open = open};

}  // namespace forebay::nvme::initiator
