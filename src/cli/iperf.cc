#include "cli/iperf.h"

#include <arpa/inet.h>
#include <fmt/core.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "cli/child_output.h"
#include "core/log.h"

namespace forebay::cli {
namespace {

constexpr double kGigabyte = 1e9;

// A port that nobody has now.
std::uint16_t free_port() {
  const int file = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const plain = reinterpret_cast<sockaddr*>(&address);
  (void)::bind(file, plain, size);
  (void)::getsockname(file, plain, &size);
  ::close(file);
  return ntohs(address.sin_port);
}

Result<nlohmann::json> run_client(std::uint16_t port, std::uint64_t bytes) {
  constexpr int kTries = 200;  // its server takes a moment until it listens
  ChildOutput last;
  for (int i = 0; i < kTries; ++i) {
    FOREBAY_TRY(output, run_program({"iperf3", "-c", "127.0.0.1", "-p", std::to_string(port), "-n",
                                     std::to_string(bytes), "-J"}));
    if (output.status == 0) {
      auto parsed = nlohmann::json::parse(output.text, nullptr, false);
      if (!parsed.is_discarded() && parsed["end"].contains("sum_received")) return parsed["end"];
    }
    last = std::move(output);
  }
  log_error("iperf3 failed: {}", last.text.substr(0, 500));
  return fail(Errc::kIo, "run iperf3");
}

}  // namespace

Result<IperfResult> run_iperf(std::uint64_t bytes) {
  const std::uint16_t port = free_port();
  const auto server =
      BackgroundChild::start({"iperf3", "-s", "-B", "127.0.0.1", "-p", std::to_string(port)});
  if (!server && server.error().code == Errc::kNotFound) {
    return fail(Errc::kUnsupported, "iperf3 is missing");
  }
  if (!server) return std::unexpected(server.error());
  FOREBAY_TRY(end, run_client(port, bytes));
  const auto& received = end["sum_received"];
  const auto& cpu = end["cpu_utilization_percent"];
  IperfResult result;
  result.bytes_per_second = received["bits_per_second"].get<double>() / 8;
  const double cores = (cpu["host_total"].get<double>() + cpu["remote_total"].get<double>()) / 100;
  if (result.bytes_per_second > 0) {
    result.cpu_seconds_per_gb = cores / (result.bytes_per_second / kGigabyte);
  }
  return result;
}

std::string iperf_version() {
  const auto output = run_program({"iperf3", "--version"});
  if (!output || output->status != 0) return "";
  const std::string line = output->text.substr(0, output->text.find('\n'));
  return line.substr(0, line.find(" ("));
}

}  // namespace forebay::cli
