// The NVMe/TCP target of one loop: subsystems, ports, and the connections of hosts.
//
//   Target target(loop, options);
//   target.add_subsystem("nqn...").add_namespace(1, *device);
//   FOREBAY_TRY(port, target.listen("127.0.0.1", 4420));
//   while (!stop) loop.turn();
//   loop.run(target.drain());
//
// A target is made for a loop and shares nothing with others; several loops would each have one
// that listens on the same port, with the subsystems' controllers on the loop of their admin queue.
// Ownership: devices and the loop outlive the target. Threads: the loop's.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "io/loop.h"
#include "nvme/target/buffer_pool.h"
#include "nvme/target/connection.h"
#include "nvme/target/discovery.h"
#include "nvme/target/subsystem.h"

namespace forebay::nvme::target {

struct TargetOptions {
  TargetLimits limits;
  std::size_t connections_max = 1024;  // more are closed as they come
  std::size_t capsule_memory_bytes = 16 << 20;
  std::size_t transfer_memory_bytes = 64 << 20;
};

class Target final : private Connection::Owner {
 public:
  Target(io::Loop& loop, const TargetOptions& options);
  // Nothing may be in flight: drain() first, or nothing was listened on.
  ~Target() override;

  Subsystem& add_subsystem(const std::string& nqn);
  // From its next Connect on the host proves itself on every queue; null: it need not any more.
  void set_credentials(const std::string& host_nqn,
                       std::shared_ptr<const auth::Credentials> credentials);
  // From its next Connect on the host comes over TLS with this key, or not at all; null: it need
  // not any more.
  void set_tls_key(const std::string& host_nqn, const std::optional<tls::TlsKey>& key);
  // `host` is a numeric address, IPv4 or IPv6; port 0 takes any. The port that it got.
  // kInvalid: no such address; kExists: taken; kDenied.
  [[nodiscard]] Result<std::uint16_t> listen(const std::string& host, std::uint16_t port,
                                             tls::TlsMode mode = tls::TlsMode::kOff);

  // Accepts nobody, lets commands at work end and be answered, and closes everything; what hangs
  // for longer than `patience` is closed unanswered. Done when nothing is in flight.
  [[nodiscard]] Task<void> drain(Nanos patience = std::chrono::seconds(5));

  [[nodiscard]] std::size_t connection_count() const { return connections_.size(); }

 private:
  struct Listener {
    io::FileId file = io::kNoFile;
    io::Op accept;
    bool accepting = false;
    tls::TlsMode mode = tls::TlsMode::kOff;
    Target* target = nullptr;
  };
  void accept(Listener& listener);
  void on_accepted(Listener& listener);
  void on_closing(Connection& connection) override;
  void on_closed(Connection& connection) override;
  void drain_connections();
  [[nodiscard]] bool idle() const;

  io::Loop& loop_;
  TargetOptions options_;
  auth::HostCredentials credentials_;
  tls::HostKeys tls_keys_;
  Subsystems subsystems_;
  std::vector<PortAddress> ports_;
  BufferPool capsule_memory_;
  BufferPool transfer_memory_;
  HostShares host_shares_;
  LoopShare share_;
  std::vector<std::unique_ptr<Listener>> listeners_;
  std::vector<std::unique_ptr<Connection>> connections_;
  std::uint64_t connection_number_ = 0;
  bool draining_ = false;
  io::Loop::Timer accept_again_;
};

}  // namespace forebay::nvme::target
