// `forebay target`: a file or device that hosts on the network use as a disk, over NVMe/TCP.
#include <fmt/core.h>

#include <array>
#include <atomic>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "block/device.h"
#include "cli/commands.h"
#include "cli/json_text.h"
#include "cli/standard_error.h"
#include "core/bytes.h"
#include "io/engine.h"
#include "nvme/target/address.h"
#include "nvme/target/target.h"

namespace forebay::cli {
namespace {

constexpr std::size_t kNqnTextMax = 223;
// One receive and one send a connection, and what the device has.
constexpr std::size_t kOpsMax = 4096;

std::atomic<bool> stop_asked{false};

void on_stop_signal(int) { stop_asked.store(true); }

struct Listen {
  std::string host;
  std::uint16_t port = 0;
};

// "127.0.0.1:4420", "[::1]:4420".
std::optional<Listen> parse_listen(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos) return std::nullopt;
  Listen listen{.host = text.substr(0, colon)};
  const bool bracketed = listen.host.starts_with('[') && listen.host.ends_with(']');
  if (bracketed) listen.host = listen.host.substr(1, listen.host.size() - 2);
  const char* end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data() + colon + 1, end, listen.port);
  if (error != std::errc{} || at != end) return std::nullopt;
  if (!nvme::target::make_address(listen.host, listen.port)) return std::nullopt;
  return listen;
}

Listen listen_of(const Invocation& call) {
  const std::string text = call.text("--listen");
  const auto listen = parse_listen(text);
  if (!listen) {
    call.mistakes().add("--listen", fmt::format("`{}` is no address and port", text),
                        "write a numeric address: 0.0.0.0:4420, or [::]:4420 for IPv6");
  }
  return listen.value_or(Listen{});
}

// The name given, or one that follows from the file's, so that a restart keeps it.
std::string nqn_of(const Invocation& call, const std::string& path) {
  const std::string given = call.text("--nqn");
  if (given.empty()) {
    return "nqn.2026-12.org.forebay:" + std::filesystem::path(path).stem().string();
  }
  if (!given.starts_with("nqn.") || given.size() > kNqnTextMax) {
    call.mistakes().add("--nqn", fmt::format("`{}` is no NVMe qualified name", given),
                        "write nqn.YYYY-MM.reverse.domain:name, at most 223 characters");
  }
  return given;
}

struct Asked {
  std::string path;
  std::string nqn;
  Listen listen;
  std::uint64_t size_bytes = 0;
};

Asked read_call(const Invocation& call) {
  Asked asked;
  asked.path = call.text("--file");
  if (asked.path.empty()) {
    call.mistakes().add("--file", "which file or device to export is not said",
                        "write --file disk.img, and --size 1G to make it");
  }
  asked.nqn = nqn_of(call, asked.path);
  asked.listen = listen_of(call);
  if (call.has("--size")) asked.size_bytes = call.bytes("--size");
  return asked;
}

std::string open_hint(const Error& error, const Asked& asked) {
  switch (error.code) {
    case Errc::kNotFound:
      return asked.size_bytes == 0 ? "check the path, or make the file with --size 1G"
                                   : "the folder of the file must exist";
    case Errc::kExists:
      return "another process has it open; a second export would corrupt it";
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

void print_ready(const Invocation& call, const Asked& asked, std::uint16_t port,
                 const block::Device& device) {
  const std::uint64_t size = device.geometry().size_bytes;
  if (call.json()) {
    const nlohmann::ordered_json ready{
        {"state", "ready"}, {"nqn", asked.nqn},   {"address", asked.listen.host},
        {"port", port},     {"size_bytes", size}, {"block_bytes", device.geometry().align_bytes}};
    fmt::print("{}\n", json_text(ready));
  } else {
    fmt::print("ready: {} ({}): nvme connect -t tcp -a {} -s {} -n {}\n", asked.path,
               format_bytes(size), asked.listen.host, port, asked.nqn);
  }
  std::fflush(stdout);
}

int serve(const Invocation& call, const Asked& asked, io::Loop& loop, block::Device& device) {
  nvme::target::Target target(loop, {});
  target.add_subsystem(asked.nqn).add_namespace(1, device);
  const auto port = target.listen(asked.listen.host, asked.listen.port);
  if (!port) {
    loop.run(target.drain());
    return explain(fmt::format("--listen {}", call.text("--listen")), port.error(),
                   "take a port that is free, and an address of this machine");
  }
  std::signal(SIGINT, on_stop_signal);
  std::signal(SIGTERM, on_stop_signal);
  print_ready(call, asked, *port, device);
  // The loop comes back at least ten times a second: a signal needs no other way in.
  while (!stop_asked.load()) loop.turn();
  loop.run(target.drain());
  return kExitOk;
}

int run_target(const Invocation& call) {
  const Asked asked = read_call(call);
  if (const auto refused = call.refuse()) return *refused;
  const auto engine = io::make_engine(io::EngineChoice::kAuto, kOpsMax);
  if (!engine) return explain("io", engine.error(), "the host allows neither io_uring nor threads");
  io::Loop loop(**engine);
  const auto device = block::open_device(
      loop, asked.path, {.size_bytes = asked.size_bytes, .create = asked.size_bytes != 0});
  if (!device) return explain(asked.path, device.error(), open_hint(device.error(), asked));
  return serve(call, asked, loop, **device);
}

constexpr std::array<Flag, 4> kTargetFlags{{
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
        "the target is ready. Blocks have 4096 bytes. Whoever reaches the address may read and "
        "write: listen on a network that you trust. SIGTERM lets commands at work end, then exits "
        "with 0.",
    .flags = kTargetFlags,
    .arguments_min = 0,
    .arguments_max = 0,
    .run = run_target};

}  // namespace forebay::cli
