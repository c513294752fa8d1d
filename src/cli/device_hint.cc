#include "cli/device_hint.h"

#include <fmt/core.h>

#include <cerrno>
#include <cstring>

#include "block/device_url.h"
#include "nvme/initiator/fabric_url.h"

namespace forebay::cli {
namespace {

// "192.0.2.10:4420", "[::1]:4420"; "the target" where the URL does not say.
std::string address_of(std::string_view url) {
  const auto parsed = nvme::initiator::parse_fabric_url(url);
  if (!parsed) return "the target";
  const bool brackets = parsed->host.find(':') != std::string::npos;
  return fmt::format("{}{}{}:{}", brackets ? "[" : "", parsed->host, brackets ? "]" : "",
                     parsed->port);
}

std::string what_of(std::string_view url, const Error& error) {
  if (error.os == ECONNREFUSED) return address_of(url) + " refuses the connection";
  const bool no_way = error.os == EHOSTUNREACH || error.os == ENETUNREACH || error.os == ETIMEDOUT;
  if (no_way) {
    return fmt::format("{} cannot be reached: {}", address_of(url), std::strerror(error.os));
  }
  return to_string(error);
}

std::string hint_of(std::string_view url, const Error& error) {
  if (error.os == ECONNREFUSED) {
    return fmt::format(
        "nothing listens there: is the target running, and is {} the address and port of its "
        "`ready` line? Its default, 127.0.0.1, is for its own machine alone",
        address_of(url));
  }
  switch (error.code) {
    case Errc::kInvalid:
      return "write nvme+tcp://HOST:4420/NQN?nsid=1, with the NQN that the target printed "
             "(docs/guides/nvme-tcp.md)";
    case Errc::kNotFound:
      return "check the host's name, the NQN (the target prints it) and nsid=";
    case Errc::kGone:
      return "is the target running, and does its --listen name an address that this machine "
             "reaches?";
    case Errc::kTimedOut:
      return fmt::format(
          "is {} an NVMe/TCP target's port, and open in every firewall between? The target's log "
          "says whether this host reached it; timeout_s= is how long it is waited for",
          address_of(url));
    case Errc::kDenied:
      return "the target must know this host: host_nqn= says who it is; dhchap_key_file= and "
             "tls_psk_file= hold what it proves that with, where the target wants it to "
             "(docs/guides/nvme-tcp.md)";
    case Errc::kReadOnly:
      return "the namespace is write protected; export the blocks and import them elsewhere";
    case Errc::kNoSpace:
      return "choose a smaller --size, or export a larger disk";
    case Errc::kCorrupt:
      return "this disk holds no Forebay store, or a damaged one; nothing was written. `store put "
             "--size` makes one where there is nothing";
    case Errc::kUnsupported:
      return "the NQN must be of a subsystem of disks, not of discovery; its namespaces are of "
             "the NVM command set, with blocks of 512 to 65536 bytes and without metadata";
    case Errc::kExists:
      return "one process at a time writes it: wait until that one ends; get, export and verify "
             "only read. Where another disk has taken its place, open that one anew";
    case Errc::kVersion:
      return fmt::format(
          "another service has {}: check host and port; a target prints its own "
          "when it is ready, 4420 by default",
          address_of(url));
    case Errc::kBusy:
    case Errc::kCancelled:
    case Errc::kIo:
      break;
  }
  return "the target's log says more";
}

}  // namespace

std::optional<DeviceWords> device_words(std::string_view url, const Error& error) {
  if (!block::has_scheme(url)) return std::nullopt;
  return DeviceWords{what_of(url, error), hint_of(url, error)};
}

std::string local_failure(const Error& error) {
  return error.code == Errc::kExists ? "one process at a time may write it (exists)"
                                     : to_string(error);
}

}  // namespace forebay::cli
