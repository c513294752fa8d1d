// What `forebay target` exports, as its user writes it: docs/formats/target-config.md. Every key
// stands once, in the visit() functions, which the reader and the page share.
//
// Values; pure. Bytes from outside: fuzzed by target_config_fuzz.cc.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/fields.h"
#include "core/diagnostics.h"
#include "nvme/auth/method.h"
#include "nvme/target/host_list.h"
#include "nvme/tls/mode.h"

namespace forebay::nvme::target {

struct ListenAddress {
  std::string host;  // numeric, IPv6 without brackets
  std::uint16_t port = 0;
  tls::TlsMode mode = tls::TlsMode::kOff;
  std::string text;  // as written
};

// A [[listen]] section: an address that says whether it speaks TLS.
struct ListenConfig {
  std::string address;
  std::string tls;
  std::string path;  // "listen.0", of its keys' places
};

struct NamespaceConfig {
  std::uint64_t id = 0;          // NSID
  std::string device;            // as block::open_device() takes it
  std::uint64_t size_bytes = 0;  // makes a file of that size; 0: it is there
  bool read_only = false;
  std::vector<std::string> hosts;  // who sees it; empty: all whom the subsystem admits
  std::string place;               // "target.toml:12", for messages later on; empty by flags
};

struct SubsystemConfig {
  std::string nqn;
  std::vector<std::string> hosts;  // NQNs, or "*" alone for whoever reaches the port
  std::vector<NamespaceConfig> namespaces;
};

// A host that must prove itself (DH-HMAC-CHAP), come over TLS, or both. Its keys are in files,
// which this reader leaves alone.
struct HostConfig {
  std::string nqn;
  std::string dhchap_key_file;             // empty: it need not prove itself
  std::string dhchap_ctrl_key_file;        // empty: the target proves itself to nobody
  std::vector<std::string> dhchap_hashes;  // as written; empty: all
  std::vector<std::string> dhchap_groups;
  std::string tls_psk_file;                       // empty: it comes without TLS
  auth::Methods methods = auth::quick_methods();  // of the names above
  std::string path;                               // "host.0", of its keys' places
  std::string key_place;                          // "target.toml:30"
  std::string ctrl_place;  // likewise; of the section where there is no such key
  std::string tls_place;
};

struct TargetConfig {
  std::vector<std::string> listen;       // as written
  std::vector<ListenConfig> listeners;   // likewise
  std::vector<ListenAddress> addresses;  // both, read
  std::uint64_t connections_max = 1024;
  std::uint64_t transfer_memory_bytes = 64 << 20;
  std::uint64_t stall_s = 10;
  std::vector<SubsystemConfig> subsystems;
  std::vector<HostConfig> hosts;
};

void visit(config::FieldVisitor& visitor, TargetConfig& target);
void visit(config::FieldVisitor& visitor, SubsystemConfig& subsystem);
void visit(config::FieldVisitor& visitor, NamespaceConfig& item);
void visit(config::FieldVisitor& visitor, HostConfig& host);
void visit(config::FieldVisitor& visitor, ListenConfig& listener);

inline constexpr std::string_view kListenDefault = "127.0.0.1:4420";
inline constexpr std::string_view kEveryHost = "*";
inline constexpr std::size_t kSubsystemsMax = 256;
inline constexpr std::size_t kHostsMax = 1024;
inline constexpr std::size_t kListenersMax = 256;
inline constexpr std::size_t kNamespacesMax = 1024;  // of a subsystem; NSIDs go as far

// The configuration, or nothing after noting all mistakes. Paths of devices are relative to `file`.
// Opens nothing.
[[nodiscard]] std::optional<TargetConfig> read_target_config(const std::string& file,
                                                             const std::string& text,
                                                             Diagnostics& mistakes);

// "127.0.0.1:4420", "[::1]:4420".
[[nodiscard]] std::optional<ListenAddress> parse_listen(const std::string& text);
[[nodiscard]] HostList host_list(const std::vector<std::string>& hosts);

}  // namespace forebay::nvme::target
