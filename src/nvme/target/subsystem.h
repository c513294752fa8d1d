// What hosts connect to: a name, namespaces, and the controllers that live now.
//
// The discovery subsystem is one too, with a log of the others instead of namespaces.
// Ownership: the target owns its subsystems; a controller lives as long as a connection holds it.
// Threads: one loop's.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/clock.h"
#include "nvme/auth/credentials.h"
#include "nvme/target/namespace.h"

namespace forebay::nvme::target {

class Controller;
struct HostIdentity;

inline constexpr std::string_view kDiscoveryNqn = "nqn.2014-08.org.nvmexpress.discovery";
inline constexpr std::uint16_t kControllerIdMax = 0xFFEF;

enum class SubsystemKind : std::uint8_t { kNvm, kDiscovery };

// Limits that Identify and the properties tell, and that the target keeps.
struct TargetLimits {
  std::uint16_t queue_size_max = 128;          // entries, CAP.MQES + 1
  std::uint16_t io_queues_max = 16;            // a controller
  std::uint32_t transfer_bytes_max = 1 << 20;  // a command; a power of two times 4 KiB (MDTS)
  std::uint32_t admin_capsule_bytes_max = 8192;
  std::uint32_t io_capsule_bytes_max = 16384;
  std::uint32_t host_data_bytes_max = 256 * 1024;  // MAXH2CDATA
  // After so long without a byte of what a connection waits for from its host, it is closed.
  Nanos stall_time = std::chrono::seconds(10);
  std::uint64_t tls_records_per_key = 1 << 23;  // 128 GiB: tls::kRecordsPerKey
};

class Subsystem {
 public:
  Subsystem(std::string nqn, SubsystemKind kind, TargetLimits limits);

  [[nodiscard]] const std::string& nqn() const { return nqn_; }
  [[nodiscard]] SubsystemKind kind() const { return kind_; }
  [[nodiscard]] const TargetLimits& limits() const { return limits_; }
  // 20 characters that follow from the name, so that a restart changes nothing.
  [[nodiscard]] const std::string& serial() const { return serial_; }

  // The namespace's identity follows from the subsystem's name and the id. In place of another of
  // this id, if there is one. Hosts that are connected hear of it by announce().
  Namespace& add_namespace(std::uint32_t id, block::Device& device);
  // Commands that a device has end as they do; new ones find no namespace. Hosts that saw it hear
  // of it. The device must stay until the target's connections are closed.
  void remove_namespace(std::uint32_t id);
  // Tells the hosts that see it of a namespace that is new or has another size.
  void announce(std::uint32_t id);
  [[nodiscard]] const Namespace* find_namespace(std::uint32_t id) const;
  [[nodiscard]] Namespace* find_namespace(std::uint32_t id);
  [[nodiscard]] const std::map<std::uint32_t, Namespace>& namespaces() const { return namespaces_; }

  HostList hosts;  // who may connect
  // The hosts that must prove themselves; the target's. Null: none need to. Discovery asks nobody.
  const auth::HostCredentials* credentials = nullptr;

  // The discovery subsystem's log page 70h for a host, made anew at each read.
  std::function<std::vector<std::byte>(const std::string& host_nqn)> discovery_log;

  // Null when every id is taken. Ids go round, so that one is not used again soon.
  [[nodiscard]] std::shared_ptr<Controller> make_controller(const HostIdentity& host);
  [[nodiscard]] std::shared_ptr<Controller> find_controller(std::uint16_t id) const;
  [[nodiscard]] std::size_t controller_count() const;
  // Of a host, those that die included: until they are gone their commands may land.
  [[nodiscard]] std::vector<std::uint16_t> controllers_of(const HostId& host) const;
  // A controller of this host that is dying: its device requests may still land.
  [[nodiscard]] bool has_dying_controller(const HostIdentity& host) const;

 private:
  std::string nqn_;
  SubsystemKind kind_;
  TargetLimits limits_;
  std::string serial_;
  std::map<std::uint32_t, Namespace> namespaces_;
  std::map<std::uint16_t, std::weak_ptr<Controller>> controllers_;
  std::uint16_t last_id_ = 0;
};

}  // namespace forebay::nvme::target
