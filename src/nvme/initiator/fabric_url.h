// The text by which a user names a namespace on another machine, and its parser.
//
//   nvme+tcp://HOST[:4420]/NQN[?nsid=1&queues=1&depth=127&header_digest=off&data_digest=off
//              &keep_alive_s=5&timeout_s=30&host_nqn=NQN&takeover=off
//              &dhchap_key_file=PATH&dhchap_ctrl_key_file=PATH&reauth_s=0
//              &tls_psk_file=PATH&tls_identity=1&tls_compat=off]
//
// HOST: a name, an IPv4 address, or an IPv6 address in brackets. queues: I/O queues, 1 to 16;
// depth: commands in flight on each, 1 to 1023. keep_alive_s: 0 is none. timeout_s: a command that
// is not answered for so long ends the connection; opening takes no longer either. host_nqn: who
// this host says it is. dhchap_key_file: by what it proves that, to a target that wants it to;
// dhchap_ctrl_key_file: by what the target must prove who it is; reauth_s: how often all is proven
// again, 0 is once. tls_psk_file: TLS with this key, by an identity of this version and, where it
// is compat, as libnvme before 1.16 derives keys. takeover: of a writer of which the target does
// not say whether it is still there (GuardWishes).
//
// Pure; bytes from outside: fuzzed by nvme_url_fuzz.cc.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/error.h"
#include "nvme/pdu.h"

namespace forebay::nvme::initiator {

inline constexpr std::string_view kUrlPrefix = "nvme+tcp://";
inline constexpr std::uint16_t kPortDefault = 4420;

struct FabricUrl {
  std::string host;
  std::uint16_t port = kPortDefault;
  std::string nqn;
  std::uint32_t nsid = 1;
  std::uint32_t queues = 1;
  std::uint32_t depth = 127;
  Digests digests;
  std::uint32_t keep_alive_s = 5;
  std::uint32_t timeout_s = 30;
  std::string host_nqn;  // empty: this machine's
  bool takeover = false;
  std::string key_file;  // empty: none
  std::string controller_key_file;
  std::uint32_t reauth_s = 0;
  std::string tls_key_file;  // empty: plain
  std::uint32_t tls_identity = 1;
  bool tls_compat = false;
};

// kInvalid; the error's literal says which part is wrong.
[[nodiscard]] Result<FabricUrl> parse_fabric_url(std::string_view text);

}  // namespace forebay::nvme::initiator
