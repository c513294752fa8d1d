// `forebay target`: a file or device that hosts on the network use as a disk, over NVMe/TCP.
#include <fmt/core.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "block/device.h"
#include "block/device_url.h"
#include "cli/boot_epoch.h"
#include "cli/commands.h"
#include "cli/device_hint.h"
#include "cli/disk_identity.h"
#include "cli/json_text.h"
#include "cli/standard_error.h"
#include "core/bytes.h"
#include "core/printable.h"
#include "core/task.h"
#include "io/engine.h"
#include "nvme/auth/secret_file.h"
#include "nvme/identity.h"
#include "nvme/target/target.h"
#include "nvme/target/target_config.h"
#include "nvme/tls/psk_file.h"
#include "report/text_file.h"

namespace forebay::cli {
namespace {

// One receive and one send a connection, and what the device has.
constexpr std::size_t kOpsMax = 4096;

std::atomic<bool> stop_asked{false};

void on_stop_signal(int) { stop_asked.store(true); }

using nvme::target::TargetConfig;

// The name given, or one that follows from the file's, so that a restart keeps it.
std::string nqn_of(const Invocation& call, const std::string& path) {
  const std::string given = call.text("--nqn");
  if (given.empty()) {
    return "nqn.2026-12.org.forebay:" + std::filesystem::path(path).stem().string();
  }
  if (!nvme::is_nqn(given)) {
    call.mistakes().add("--nqn", fmt::format("`{}` is no NVMe qualified name", given),
                        "write nqn.YYYY-MM.reverse.domain:name, at most 223 characters");
  }
  return given;
}

// One disk for whoever reaches the address, by flags alone.
TargetConfig config_of_flags(const Invocation& call) {
  TargetConfig config;
  nvme::target::SubsystemConfig subsystem;
  nvme::target::NamespaceConfig disk;
  disk.id = 1;
  disk.device = call.text("--file");
  if (disk.device.empty()) {
    call.mistakes().add("--file", "which file or device to export is not said",
                        "write --file disk.img, and --size 1G to make it; or --config target.toml");
  }
  if (call.has("--size")) disk.size_bytes = call.bytes("--size");
  subsystem.nqn = nqn_of(call, disk.device);
  subsystem.hosts = {std::string(nvme::target::kEveryHost)};
  subsystem.namespaces.push_back(std::move(disk));
  config.subsystems.push_back(std::move(subsystem));
  const std::string listen = call.text("--listen");
  if (const auto address = nvme::target::parse_listen(listen)) {
    config.addresses = {*address};
  } else {
    call.mistakes().add("--listen", fmt::format("`{}` is no address and port", listen),
                        "write a numeric address: 0.0.0.0:4420, or [::]:4420 for IPv6");
  }
  return config;
}

std::optional<TargetConfig> config_of_file(const Invocation& call) {
  const std::string file = call.text("--config");
  for (const char* flag : {"--file", "--size", "--listen", "--nqn"}) {
    if (call.has(flag)) {
      call.mistakes().add(flag, "does not go with --config", "say it in the configuration");
    }
  }
  const auto text = report::read_text_up_to(file, config::kDocumentBytesMax);
  if (!text) {
    call.mistakes().add(file, fmt::format("cannot be read: {}", to_string(text.error())),
                        "docs/formats/target-config.md says what stands in it");
    return std::nullopt;
  }
  return nvme::target::read_target_config(file, *text, call.mistakes());
}

std::string open_hint(const Error& error, std::uint64_t size_bytes) {
  switch (error.code) {
    case Errc::kNotFound:
      return size_bytes == 0 ? "check the path, or make the file with --size 1G"
                             : "the folder of the file must exist";
    case Errc::kExists:
      return "a second export would corrupt it: end that process, or let hosts use its export";
    case Errc::kNoSpace:
      return "free space on the file system, or choose a smaller --size";
    case Errc::kInvalid:
      return "an empty file is no disk: --size 1G makes it one";
    case Errc::kBusy:
    case Errc::kTimedOut:
    case Errc::kCancelled:
    case Errc::kCorrupt:
    case Errc::kIo:
    case Errc::kReadOnly:
    case Errc::kGone:
    case Errc::kUnsupported:
    case Errc::kDenied:
    case Errc::kVersion:
      break;
  }
  return "the file must be readable and writable for this user";
}

int explain(std::string_view what, const Error& error, std::string_view hint) {
  tell("{}: {}\n  hint: {}\n", what, to_string(error), hint);
  return kExitFailed;
}

using Devices = std::vector<std::unique_ptr<block::Device>>;

// One device a namespace, in the order of the configuration; fewer: the last could not be opened.
std::optional<Devices> open_devices(io::Loop& loop, const TargetConfig& config) {
  Devices devices;
  for (const auto& subsystem : config.subsystems) {
    for (const auto& item : subsystem.namespaces) {
      auto device = block::open_device(loop, item.device,
                                       {.size_bytes = item.size_bytes,
                                        .write = !item.read_only,
                                        .create = item.size_bytes != 0});
      if (!device) {
        const std::string what =
            item.place.empty() ? item.device : fmt::format("{}: {}", item.place, item.device);
        if (const auto words = device_words(item.device, device.error())) {
          tell("{}: {}\n  hint: {}\n", what, words->what, words->hint);
        } else {
          tell("{}: {}\n  hint: {}\n", what, local_failure(device.error()),
               open_hint(device.error(), item.size_bytes));
        }
        return std::nullopt;
      }
      devices.push_back(std::move(*device));
    }
  }
  return devices;
}

void add_subsystems(nvme::target::Target& target, const TargetConfig& config,
                    const Devices& devices) {
  auto device = devices.begin();
  for (const auto& wanted : config.subsystems) {
    nvme::target::Subsystem& subsystem = target.add_subsystem(wanted.nqn);
    subsystem.hosts = nvme::target::host_list(wanted.hosts);
    for (const auto& item : wanted.namespaces) {
      auto& added = subsystem.add_namespace(static_cast<std::uint32_t>(item.id), **device++);
      added.write_protected = item.read_only;
      // Of a disk elsewhere this process alone knows what it has not flushed.
      if (!block::has_scheme(item.device)) added.cache_epoch = boot_epoch();
      if (const std::string disk = disk_identity(item.device); !disk.empty()) {
        added.nguid = nvme::uuid_of(fmt::format("{}\n{}\n{}", wanted.nqn, item.id, disk));
      }
      added.hosts = nvme::target::host_list(item.hosts);
    }
  }
}

struct KnownHost {
  std::shared_ptr<const nvme::auth::Credentials> credentials;  // null: it need not prove itself
  std::optional<nvme::tls::TlsKey> tls_key;
};
using KnownHosts = std::vector<KnownHost>;

std::optional<nvme::auth::Secret> read_key(const Invocation& call, const std::string& place,
                                           const std::string& file) {
  if (file.empty()) return std::nullopt;
  auto secret = nvme::auth::read_secret_file(file);
  if (secret) return std::move(*secret);
  call.mistakes().add(place, fmt::format("{}: {}", file, to_string(secret.error())),
                      std::string(nvme::auth::secret_hint(secret.error())));
  return std::nullopt;
}

std::optional<nvme::tls::TlsKey> read_tls_key(const Invocation& call, const std::string& place,
                                              const std::string& file) {
  if (file.empty()) return std::nullopt;
  auto key = nvme::tls::read_tls_key_file(file);
  if (key) return std::move(*key);
  call.mistakes().add(place, fmt::format("{}: {}", file, to_string(key.error())),
                      std::string(nvme::tls::tls_key_hint(key.error())));
  return std::nullopt;
}

// The keys of the hosts, in the order of the configuration; what is wrong is noted.
KnownHosts read_keys(const Invocation& call, const TargetConfig& config) {
  KnownHosts known;
  for (const auto& host : config.hosts) {
    const auto host_key = read_key(call, host.key_place, host.dhchap_key_file);
    const auto own_key = read_key(call, host.ctrl_place, host.dhchap_ctrl_key_file);
    KnownHost& added = known.emplace_back();
    added.tls_key = read_tls_key(call, host.tls_place, host.tls_psk_file);
    if (!host_key) continue;
    added.credentials = std::make_shared<const nvme::auth::Credentials>(nvme::auth::Credentials{
        .host_key = *host_key, .controller_key = own_key, .methods = host.methods});
  }
  return known;
}

using Ports = std::vector<std::uint16_t>;  // of the addresses, in their order

nlohmann::ordered_json ready_json(const TargetConfig& config, const Devices& devices,
                                  const Ports& ports) {
  nlohmann::ordered_json ready{{"state", "ready"}};
  for (std::size_t i = 0; i < ports.size(); ++i) {
    ready["ports"].push_back({{"address", config.addresses[i].host},
                              {"port", ports[i]},
                              {"tls", nvme::tls::to_string(config.addresses[i].mode)}});
  }
  auto device = devices.begin();
  for (const auto& subsystem : config.subsystems) {
    nlohmann::ordered_json namespaces;
    for (const auto& item : subsystem.namespaces) {
      const auto& geometry = (*device++)->geometry();
      namespaces.push_back({{"id", item.id},
                            {"device", item.device},
                            {"size_bytes", geometry.size_bytes},
                            {"block_bytes", geometry.align_bytes},
                            {"read_only", item.read_only || geometry.read_only}});
    }
    ready["subsystems"].push_back({{"nqn", subsystem.nqn}, {"namespaces", namespaces}});
  }
  return ready;
}

void print_ready(const TargetConfig& config, const Devices& devices, const Ports& ports) {
  auto device = devices.begin();
  for (const auto& subsystem : config.subsystems) {
    for (const auto& item : subsystem.namespaces) {
      fmt::print("{} ({}) is namespace {} of {}\n", printable(item.device),
                 format_bytes((*device++)->geometry().size_bytes), item.id,
                 printable(subsystem.nqn));
    }
    for (std::size_t i = 0; i < ports.size(); ++i) {
      const bool tls = config.addresses[i].mode == nvme::tls::TlsMode::kRequired;
      fmt::print("ready: nvme connect -t tcp -a {} -s {} -n {}{}\n", config.addresses[i].host,
                 ports[i], printable(subsystem.nqn), tls ? " --tls" : "");
    }
  }
}

// The kernel lets go of a killed process's io_uring, and of the listening socket in it, a moment
// after the process: a target that is started again at once would find its own port taken.
constexpr Nanos kPortWait = std::chrono::seconds(1);
constexpr Nanos kPortPause = std::chrono::milliseconds(50);

Task<void> pause(io::Loop* loop) { co_await loop->sleep_for(kPortPause); }

Result<std::uint16_t> listen(io::Loop& loop, nvme::target::Target& target,
                             const nvme::target::ListenAddress& address) {
  const Nanos until = loop.now() + kPortWait;
  while (true) {
    auto port = target.listen(address.host, address.port, address.mode);
    if (port || port.error().os != EADDRINUSE || loop.now() >= until) return port;
    loop.run(pause(&loop));
  }
}

struct Exports {
  TargetConfig config;
  KnownHosts hosts;
  Devices devices;
};

int serve(const Invocation& call, const Exports& exports, io::Loop& loop) {
  const auto& [config, hosts, devices] = exports;
  nvme::target::TargetOptions options;
  options.connections_max = config.connections_max;
  options.transfer_memory_bytes = config.transfer_memory_bytes;
  options.limits.stall_time = std::chrono::seconds(config.stall_s);
  nvme::target::Target target(loop, options);
  add_subsystems(target, config, devices);
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    target.set_credentials(config.hosts[i].nqn, hosts[i].credentials);
    target.set_tls_key(config.hosts[i].nqn, hosts[i].tls_key);
  }
  Ports ports;
  for (std::size_t i = 0; i < config.addresses.size(); ++i) {
    const auto port = listen(loop, target, config.addresses[i]);
    if (!port) {
      loop.run(target.drain());
      return explain(fmt::format("listen on {}", config.addresses[i].text), port.error(),
                     "take a port that is free, and an address of this machine");
    }
    ports.push_back(*port);
  }
  std::signal(SIGINT, on_stop_signal);
  std::signal(SIGTERM, on_stop_signal);
  if (call.json()) {
    fmt::print("{}\n", json_text(ready_json(config, devices, ports)));
  } else {
    print_ready(config, devices, ports);
  }
  std::fflush(stdout);
  // The loop comes back at least ten times a second: a signal needs no other way in.
  while (!stop_asked.load()) loop.turn();
  loop.run(target.drain());
  return kExitOk;
}

int run_target(const Invocation& call) {
  const auto config = call.has("--config") ? config_of_file(call) : config_of_flags(call);
  const KnownHosts hosts = config ? read_keys(call, *config) : KnownHosts{};
  if (const auto refused = call.refuse()) return *refused;
  const auto engine = io::make_engine(io::EngineChoice::kAuto, kOpsMax);
  if (!engine) return explain("io", engine.error(), "the host allows neither io_uring nor threads");
  io::Loop loop(**engine);
  auto devices = open_devices(loop, *config);
  if (!devices) return kExitFailed;
  return serve(call, {*config, hosts, std::move(*devices)}, loop);
}

constexpr std::array<Flag, 5> kTargetFlags{{
    {"--config", "FILE", "", "what to export, to whom and where (docs/formats/target-config.md)"},
    {"--file", "DEVICE", "", "file, disk or stripe to export"},
    {"--size", "BYTES", "", "makes the file, or makes it larger, with its space allocated"},
    {"--listen", "ADDRESS:PORT", "127.0.0.1:4420", "where hosts connect; port 0 takes any"},
    {"--nqn", "NAME", "", "of the subsystem (default: from the file's name)"},
}};

}  // namespace

const Command kTargetCommand{
    .name = "target",
    .arguments = "",
    .summary = "export a file or disk over NVMe/TCP",
    .details =
        "Hosts use it as a disk: `nvme connect` of Linux, with the command that is printed when "
        "the target is ready. Blocks have 4096 bytes. With --file, whoever reaches the address may "
        "read and write: listen on a network that you trust. --config exports several disks, each "
        "to the hosts it lists, and has them prove themselves and use TLS with keys. SIGTERM lets "
        "commands at "
        "work end, then exits "
        "with 0.",
    .flags = kTargetFlags,
    .arguments_min = 0,
    .arguments_max = 0,
    .run = run_target};

}  // namespace forebay::cli
