// An NVMe/TCP target on a core of its own, over a device that costs nothing, for benchmarks.
//
// Threads: made and destroyed by one; the target runs on its own.
#pragma once

#include <atomic>
#include <cstdint>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "core/clock.h"
#include "core/error.h"
#include "nvme/tls/psk.h"

namespace forebay::cli {

class BenchTarget {
 public:
  // Listens on a port of its own of 127.0.0.1; with a key, for the host of that name over TLS
  // alone.
  [[nodiscard]] static Result<std::unique_ptr<BenchTarget>> start(
      const std::optional<nvme::tls::TlsKey>& key = std::nullopt);
  ~BenchTarget();
  BenchTarget(const BenchTarget&) = delete;
  BenchTarget& operator=(const BenchTarget&) = delete;

  static constexpr std::string_view kHostNqn = "nqn.2026-12.org.forebay:bench-host";
  // Of its namespace; `query`: "?depth=128".
  [[nodiscard]] std::string url(std::string_view query) const;
  // That its thread has used.
  [[nodiscard]] Nanos cpu_time();

 private:
  BenchTarget() = default;
  void serve(std::promise<Status>& listening);

  std::optional<nvme::tls::TlsKey> key_;
  std::thread thread_;
  std::atomic<std::uint16_t> port_{0};
  std::atomic<bool> stop_{false};
};

}  // namespace forebay::cli
