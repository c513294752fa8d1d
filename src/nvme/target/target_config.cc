#include "nvme/target/target_config.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <set>
#include <utility>

#include "config/resolve_path.h"
#include "config/table_reader.h"
#include "core/bytes.h"
#include "nvme/identity.h"
#include "nvme/target/address.h"
#include "nvme/target/subsystem.h"

namespace forebay::nvme::target {
namespace {

constexpr std::uint64_t kSizeMax = std::uint64_t{1} << 60;
constexpr std::array<std::string_view, 4> kSections{"target", "listen", "subsystem", "host"};
constexpr std::array<std::string_view, 3> kTlsModes{"off", "optional", "required"};
// Keys of a subsystem that are sections.
constexpr std::array<std::string_view, 1> kNested{"namespace"};
constexpr const char* kNqnHint = "write nqn.YYYY-MM.reverse.domain:name, at most 223 characters";

// As block::open_device() takes it: a plain path is relative to the configuration's folder.
std::string resolve(const std::string& file, const std::string& device) {
  const bool plain = !device.empty() && device.find(':') == std::string::npos;
  return plain ? config::resolve_path(file, device) : device;
}

class Checker {
 public:
  Checker(const config::Places& places, Diagnostics& mistakes)
      : places_(places), mistakes_(mistakes) {}

  void check(TargetConfig& target) {
    check_listen(target);
    if (target.subsystems.empty()) {
      mistakes_.add(places_.file(), "exports nothing", "write a [[subsystem]] section");
    }
    std::set<std::string> names;
    for (std::size_t i = 0; i < target.subsystems.size(); ++i) {
      const std::string path = fmt::format("subsystem.{}", i);
      const SubsystemConfig& subsystem = target.subsystems[i];
      if (check_name(subsystem, path) && !names.insert(subsystem.nqn).second) {
        refuse(path, "nqn", fmt::format("two subsystems are named `{}`", subsystem.nqn));
      }
      check_hosts(subsystem.hosts, path, true);
      check_namespaces(subsystem, path);
    }
    std::set<std::string> names_of_hosts;
    for (HostConfig& host : target.hosts) {
      check_host_name(target, host, names_of_hosts);
      check_host_keys(host);
      check_methods(host);
    }
    check_tls(target);
  }

 private:
  void refuse(const std::string& path, std::string_view key, std::string message,
              std::string hint = {}) {
    mistakes_.add(places_.of(fmt::format("{}.{}", path, key)), std::move(message), std::move(hint));
  }
  void check_listen(TargetConfig& target) {
    if (target.listen.empty() && target.listeners.empty()) {
      target.listen.emplace_back(kListenDefault);
    }
    for (const std::string& text : target.listen) {
      add_address(target, text, tls::TlsMode::kOff, {"target", "listen"});
    }
    for (const ListenConfig& listener : target.listeners) {
      const auto mode = tls::parse_mode(listener.tls);
      // What its address speaks must not follow from what was forgotten.
      if (!mode) {
        refuse(listener.path, "tls", "a [[listen]] section does not say whether it speaks TLS",
               "write tls = \"required\", \"optional\" or \"off\"");
      }
      add_address(target, listener.address, mode.value_or(tls::TlsMode::kOff),
                  {listener.path, "address"});
    }
  }
  struct KeyPath {
    std::string path;
    std::string_view key;
  };
  void add_address(TargetConfig& target, const std::string& text, tls::TlsMode mode,
                   const KeyPath& key) {
    auto address = parse_listen(text);
    if (!address) {
      return refuse(key.path, key.key, fmt::format("`{}` is no address and port", text),
                    "write a numeric address: \"0.0.0.0:4420\", or \"[::]:4420\" for IPv6");
    }
    address->mode = mode;
    target.addresses.push_back(std::move(*address));
  }
  // A key without a port to use it at, or the other way round, would leave hosts out.
  void check_tls(const TargetConfig& target) {
    const auto speaks = [](const ListenAddress& one) { return one.mode != tls::TlsMode::kOff; };
    const bool any = std::ranges::any_of(target.addresses, speaks);
    bool key = false;
    for (const HostConfig& host : target.hosts) {
      if (host.tls_psk_file.empty()) continue;
      key = true;
      if (any) continue;
      refuse(host.path, "tls_psk_file", "a host has a TLS key, and no address speaks TLS",
             "write a [[listen]] section with tls = \"required\"");
    }
    for (const ListenConfig& listener : target.listeners) {
      if (key || listener.tls != "required") continue;
      refuse(listener.path, "tls", "an address requires TLS, and no host has a key for it",
             "write tls_psk_file in a [[host]] section");
    }
  }
  bool check_name(const SubsystemConfig& subsystem, const std::string& path) {
    if (subsystem.nqn.empty()) {
      refuse(path, "nqn", "a subsystem has no `nqn`", kNqnHint);
    } else if (!is_nqn(subsystem.nqn)) {
      refuse(path, "nqn", fmt::format("`{}` is no NVMe qualified name", subsystem.nqn), kNqnHint);
    } else if (subsystem.nqn == kDiscoveryNqn) {
      refuse(path, "nqn", "this is the name of discovery, which every port has", kNqnHint);
    } else {
      return true;
    }
    return false;
  }
  // A subsystem must say whom it admits: a list that was forgotten must not mean everybody.
  void check_hosts(const std::vector<std::string>& hosts, const std::string& path, bool needed) {
    if (hosts.empty() && needed) {
      refuse(path, "hosts", "whom this subsystem admits is not said",
             "list the hosts' NQNs (/etc/nvme/hostnqn), or write [\"*\"] for whoever reaches it");
    }
    for (const std::string& host : hosts) {
      if (host == kEveryHost && hosts.size() == 1) continue;
      if (is_nqn(host)) continue;
      refuse(path, "hosts", fmt::format("`{}` is no host's NVMe qualified name", host),
             host == kEveryHost ? "\"*\" stands alone" : "see /etc/nvme/hostnqn of the host");
    }
  }
  void check_namespaces(const SubsystemConfig& subsystem, const std::string& of) {
    if (subsystem.namespaces.empty()) {
      mistakes_.add(places_.of(of), "a subsystem has no namespace",
                    "write a [[subsystem.namespace]] section below it");
    }
    std::set<std::uint64_t> ids;
    for (std::size_t i = 0; i < subsystem.namespaces.size(); ++i) {
      const NamespaceConfig& item = subsystem.namespaces[i];
      const std::string path = fmt::format("{}.namespace.{}", of, i);
      if (item.id == 0) {
        refuse(path, "id", "a namespace has no `id`",
               "number them from 1: hosts know a disk again by its id");
      } else if (!ids.insert(item.id).second) {
        refuse(path, "id", fmt::format("two namespaces have the id {}", item.id));
      }
      check_hosts(item.hosts, path, false);
      check_device(item, path);
    }
  }
  void check_device(const NamespaceConfig& item, const std::string& path) {
    if (item.device.empty()) {
      refuse(path, "device", "a namespace has no `device`", "name a file, a disk or a stripe");
      return;
    }
    const auto [first, is_new] = devices_.emplace(item.device, item.place);
    if (!is_new) {
      refuse(path, "device",
             fmt::format("`{}` is exported at {} already", item.device, first->second),
             "two namespaces on one device overwrite each other");
    }
    if (item.read_only && item.size_bytes != 0) {
      refuse(path, "size", "a file to be made cannot be read_only", "remove `size`");
    }
  }

  // A slip in a name would leave the host that is meant without authentication.
  void check_host_name(const TargetConfig& target, const HostConfig& host,
                       std::set<std::string>& names) {
    const bool admitted =
        std::ranges::any_of(target.subsystems, [&host](const SubsystemConfig& subsystem) {
          return host_list(subsystem.hosts).admits(host.nqn);
        });
    if (host.nqn.empty()) {
      refuse(host.path, "nqn", "a host has no `nqn`", "see /etc/nvme/hostnqn of the host");
    } else if (!is_nqn(host.nqn)) {
      refuse(host.path, "nqn", fmt::format("`{}` is no host's NVMe qualified name", host.nqn),
             "see /etc/nvme/hostnqn of the host");
    } else if (!names.insert(host.nqn).second) {
      refuse(host.path, "nqn", fmt::format("two hosts are named `{}`", host.nqn));
    } else if (!admitted) {
      refuse(host.path, "nqn", fmt::format("no subsystem admits `{}`", host.nqn),
             "list it in `hosts` of a [[subsystem]], written the same way");
    }
  }
  void check_host_keys(const HostConfig& host) {
    if (!host.dhchap_key_file.empty()) return;
    if (host.tls_psk_file.empty()) {
      refuse(host.path, "dhchap_key_file",
             "a host has neither `dhchap_key_file` nor `tls_psk_file`",
             "make one: forebay key generate --output host.key");
    } else if (!host.dhchap_ctrl_key_file.empty()) {
      refuse(host.path, "dhchap_ctrl_key_file",
             "the target proves itself to hosts that do, and this one has no `dhchap_key_file`",
             "make one: forebay key generate --output host.key");
    }
  }
  void check_methods(HostConfig& host) {
    read_names(host, {"dhchap_hashes", "hash"}, host.dhchap_hashes, auth::kHashes, auth::parse_hash,
               host.methods.hashes);
    read_names(host, {"dhchap_groups", "DH group"}, host.dhchap_groups, auth::kGroups,
               auth::parse_group, host.methods.groups);
  }
  struct NamedList {
    std::string_view key;
    std::string_view what;
  };
  template <class Id, std::size_t kCount>
  void read_names(const HostConfig& host, NamedList list, const std::vector<std::string>& names,
                  const std::array<Id, kCount>& known, std::optional<Id> (*parse)(std::string_view),
                  std::vector<Id>& ids) {
    if (names.empty()) return;
    ids.clear();
    for (const std::string& name : names) {
      const auto id = parse(name);
      if (!id) {
        std::array<std::string_view, kCount> allowed{};
        std::ranges::transform(known, allowed.begin(), [](Id one) { return auth::to_string(one); });
        refuse(host.path, list.key, fmt::format("`{}` is no {}", name, list.what),
               suggest(name, allowed));
      } else if (std::ranges::find(ids, *id) == ids.end()) {
        ids.push_back(*id);
      }
    }
  }

  const config::Places& places_;
  Diagnostics& mistakes_;
  std::map<std::string, std::string> devices_;
};

void read_subsystems(const toml::table& root, const std::string& file, TargetConfig& target,
                     config::Context& context) {
  const auto read_namespace = [&](config::TableReader& reader) {
    NamespaceConfig item;
    visit(reader, item);
    reader.refuse_unknown();
    item.device = resolve(file, item.device);
    item.place = context.places.of(reader.path());
    return item;
  };
  config::for_each_table(
      root, "subsystem", kSubsystemsMax, context,
      [&](config::TableReader& reader, const toml::table& table) {
        SubsystemConfig subsystem;
        visit(reader, subsystem);
        reader.refuse_unknown({.what = "", .kind = "", .keys = kNested, .allowed = true});
        config::for_each_table(table, kNested[0], kNamespacesMax, context,
                               [&](config::TableReader& inner, const toml::table&) {
                                 subsystem.namespaces.push_back(read_namespace(inner));
                               },
                               {.path = reader.path(), .title = "subsystem"});
        target.subsystems.push_back(std::move(subsystem));
      });
}

void read_hosts(const toml::table& root, const std::string& file, TargetConfig& target,
                config::Context& context) {
  config::for_each_table(
      root, "host", kHostsMax, context, [&](config::TableReader& reader, const toml::table&) {
        HostConfig host;
        visit(reader, host);
        reader.refuse_unknown();
        host.path = reader.path();
        for (std::string* key_file :
             {&host.dhchap_key_file, &host.dhchap_ctrl_key_file, &host.tls_psk_file}) {
          if (!key_file->empty()) *key_file = config::resolve_path(file, *key_file);
        }
        host.key_place = context.places.of(host.path + ".dhchap_key_file");
        host.ctrl_place = context.places.of(host.path + ".dhchap_ctrl_key_file");
        host.tls_place = context.places.of(host.path + ".tls_psk_file");
        target.hosts.push_back(std::move(host));
      });
}

void read_listeners(const toml::table& root, TargetConfig& target, config::Context& context) {
  config::for_each_table(root, "listen", kListenersMax, context,
                         [&](config::TableReader& reader, const toml::table&) {
                           ListenConfig listener;
                           visit(reader, listener);
                           reader.refuse_unknown();
                           listener.path = reader.path();
                           target.listeners.push_back(std::move(listener));
                         });
}

}  // namespace

void visit(config::FieldVisitor& visitor, TargetConfig& target) {
  visitor.texts({"listen", "addresses and ports where hosts connect in plain; port 0 takes any"},
                target.listen);
  visitor.count({"connections_max", "more are closed as they come"}, target.connections_max,
                {1, 65'536});
  visitor.bytes({"transfer_memory_bytes", "for data on its way, of all connections together"},
                target.transfer_memory_bytes, {4 * kMiB, 64 * kGiB});
  visitor.count({"stall_s", "seconds without a byte from a host that owes some, then it is closed"},
                target.stall_s, {1, 3600});
}

void visit(config::FieldVisitor& visitor, SubsystemConfig& subsystem) {
  visitor.text({"nqn", "the name that hosts connect to"}, subsystem.nqn);
  visitor.texts({"hosts", "NQNs of the hosts that may connect, or \"*\" alone for every host"},
                subsystem.hosts);
}

void visit(config::FieldVisitor& visitor, NamespaceConfig& item) {
  visitor.count({"id", "the namespace's number (NSID); part of its identity"}, item.id,
                {1, kNamespacesMax});
  visitor.text({"device", "file, disk, stripe or URL; relative to this file"}, item.device);
  visitor.bytes({"size", "makes the file, or makes it larger, with its space allocated"},
                item.size_bytes, {0, kSizeMax});
  visitor.toggle({"read_only", "hosts may only read"}, item.read_only);
  visitor.texts({"hosts", "of the subsystem's hosts, those that see it; absent: all"}, item.hosts);
}

void visit(config::FieldVisitor& visitor, ListenConfig& listener) {
  visitor.text({"address", "address and port where hosts connect; port 0 takes any"},
               listener.address);
  visitor.word({"tls", "whether a host there must, may or may not use TLS"}, listener.tls,
               kTlsModes);
}

void visit(config::FieldVisitor& visitor, HostConfig& host) {
  visitor.text({"nqn", "the host that must prove itself, as in its subsystems' `hosts`"}, host.nqn);
  visitor.text({"dhchap_key_file", "file with the host's key (DHHC-1), for its owner alone"},
               host.dhchap_key_file);
  visitor.text({"dhchap_ctrl_key_file", "file with the key by which the target proves itself"},
               host.dhchap_ctrl_key_file);
  visitor.texts({"dhchap_hashes", "hashes that it may use, the dearest first"}, host.dhchap_hashes);
  visitor.texts({"dhchap_groups", "Diffie-Hellman groups that it may use, the dearest first"},
                host.dhchap_groups);
  visitor.text({"tls_psk_file", "file with the host's TLS key (NVMeTLSkey-1), for its owner alone"},
               host.tls_psk_file);
}

std::optional<ListenAddress> parse_listen(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos) return std::nullopt;
  ListenAddress listen{.host = text.substr(0, colon), .text = text};
  const bool bracketed = listen.host.starts_with('[') && listen.host.ends_with(']');
  if (bracketed) listen.host = listen.host.substr(1, listen.host.size() - 2);
  const char* end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data() + colon + 1, end, listen.port);
  if (error != std::errc{} || at != end) return std::nullopt;
  const auto address = make_address(listen.host, listen.port);
  if (!address || bracketed != (address->family == AddressFamily::kIpv6)) return std::nullopt;
  return listen;
}

HostList host_list(const std::vector<std::string>& hosts) {
  if (hosts.empty() || (hosts.size() == 1 && hosts[0] == kEveryHost)) return {};
  return HostList::only({hosts.begin(), hosts.end()});
}

std::optional<TargetConfig> read_target_config(const std::string& file, const std::string& text,
                                               Diagnostics& mistakes) {
  const std::size_t before = mistakes.count();
  const auto root = config::parse_document(file, text, mistakes);
  if (!root) return std::nullopt;
  config::Places places(file);
  config::Context context{mistakes, places};
  TargetConfig target;
  config::refuse_unknown_sections(*root, kSections, context);
  config::TableReader reader(*config::section(*root, "target", context), "target", "[target]",
                             context);
  visit(reader, target);
  reader.refuse_unknown();
  read_subsystems(*root, file, target, context);
  read_listeners(*root, target, context);
  read_hosts(*root, file, target, context);
  // What is missing because it was written wrongly was said already.
  if (mistakes.count() == before) Checker(places, mistakes).check(target);
  if (mistakes.count() != before) return std::nullopt;
  return target;
}

}  // namespace forebay::nvme::target
