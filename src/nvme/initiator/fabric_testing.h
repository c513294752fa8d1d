// For tests: our own target on a loop, and the options of a device that connects to it.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>

#include <cstring>
#include <memory>
#include <optional>
#include <utility>

#include "block/memory.h"
#include "core/bytes.h"
#include "core/check.h"
#include "nvme/initiator/fabric_device.h"
#include "nvme/target/target.h"

namespace forebay::nvme::initiator {

inline constexpr const char* kTestNqn = "nqn.2026-12.org.forebay:disk";
inline constexpr const char* kTestHostNqn = "nqn.2026-12.org.forebay:host";

inline PeerAddress loopback(std::uint16_t port) {
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(port);
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  PeerAddress address;
  std::memcpy(&address.storage, &to, sizeof to);
  address.bytes = sizeof to;
  return address;
}

// With a key: the target's one host comes over TLS, and its device does so.
struct TestTls {
  tls::TlsMode mode = tls::TlsMode::kOff;
  std::optional<tls::TlsKey> key;
};

// A target with one namespace that can go and come back on its port.
class TestTarget {
 public:
  TestTarget(io::Loop& loop, block::Device& disk, const target::TargetOptions& options = {},
             TestTls tls = {})
      : loop_(loop), options_(options), tls_(std::move(tls)) {
    start(disk);
  }
  ~TestTarget() { stop(std::chrono::seconds(5)); }

  void start(block::Device& disk) {
    target_ = std::make_unique<target::Target>(loop_, options_);
    subsystem_ = &target_->add_subsystem(kTestNqn);
    auto& added = subsystem_->add_namespace(1, disk);
    added.cache_epoch = cache_epoch;
    if (nguid != Uuid{}) added.nguid = nguid;
    target_->set_credentials(kTestHostNqn, credentials_);
    target_->set_tls_key(kTestHostNqn, tls_.key);
    const auto port = target_->listen("127.0.0.1", port_, tls_.mode);
    FOREBAY_CHECK(port.has_value());
    port_ = *port;
  }
  // Commands at work are answered only within `patience`.
  void stop(Nanos patience) {
    if (target_) loop_.run(target_->drain(patience));
    target_.reset();
  }
  [[nodiscard]] std::size_t connection_count() const { return target_->connection_count(); }
  [[nodiscard]] std::uint16_t port() const { return port_; }
  [[nodiscard]] target::Subsystem& subsystem() const { return *subsystem_; }

  // From the next start on.
  void set_tls(TestTls tls) { tls_ = std::move(tls); }
  // Of the host, from its next Connect on.
  void set_credentials(std::shared_ptr<const auth::Credentials> credentials) {
    credentials_ = std::move(credentials);
    target_->set_credentials(kTestHostNqn, credentials_);
  }

  // What the device uses of a key.
  static std::shared_ptr<const tls::Psk> psk_of(
      const tls::TlsKey& key, tls::IdentityVersion version = tls::IdentityVersion::kDigest,
      tls::Derivation derivation = tls::Derivation::kSpec) {
    auto psk = tls::derive_psk(key, {kTestHostNqn, kTestNqn}, version, derivation);
    FOREBAY_CHECK(psk.has_value());
    return std::make_shared<const tls::Psk>(std::move(*psk));
  }

  // From the next start on.
  CacheEpoch cache_epoch{};
  Uuid nguid{};  // zeroes: that of the name

  [[nodiscard]] FabricOptions options() const {
    FabricOptions options;
    options.name = "nvme+tcp://test";
    options.addresses = {loopback(port_)};
    options.association.subsystem_nqn = kTestNqn;
    options.association.host.nqn = kTestHostNqn;
    options.association.host.id.fill(std::byte{3});
    if (tls_.key && tls_.mode != tls::TlsMode::kOff) options.association.psk = psk_of(*tls_.key);
    return options;
  }

 private:
  io::Loop& loop_;
  target::TargetOptions options_;
  TestTls tls_;
  std::unique_ptr<target::Target> target_;
  target::Subsystem* subsystem_ = nullptr;
  std::uint16_t port_ = 0;
  std::shared_ptr<const auth::Credentials> credentials_;
};

}  // namespace forebay::nvme::initiator
