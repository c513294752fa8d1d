#include "cli/device_hint.h"

#include "block/device_url.h"

namespace forebay::cli {

std::string device_hint(std::string_view url, const Error& error) {
  if (!block::has_scheme(url)) return "";
  switch (error.code) {
    case Errc::kInvalid:
      return "write nvme+tcp://HOST:4420/NQN?nsid=1, with the NQN that the target printed "
             "(docs/guides/nvme-tcp.md)";
    case Errc::kNotFound:
      return "check the host's name, the NQN (the target prints it) and nsid=";
    case Errc::kGone:
    case Errc::kTimedOut:
      return "is the target running, and does its --listen name an address that this machine "
             "reaches?";
    case Errc::kDenied:
      return "the target must know this host, or take it without a key; host_nqn= says who it is";
    case Errc::kReadOnly:
      return "the namespace is write protected; export the blocks and import them elsewhere";
    case Errc::kNoSpace:
      return "choose a smaller --size, or export a larger disk";
    case Errc::kCorrupt:
      return "this disk holds no Forebay store, or a damaged one; nothing was written. `store put "
             "--size` makes one where there is nothing";
    case Errc::kUnsupported:
      return "format the namespace with blocks of 512 to 65536 bytes and without metadata";
    case Errc::kExists:
      return "another process has this store open; one at a time";  // as of a file
    case Errc::kBusy:
    case Errc::kCancelled:
    case Errc::kIo:
    case Errc::kVersion:
      break;
  }
  return "the target's log says more";
}

}  // namespace forebay::cli
