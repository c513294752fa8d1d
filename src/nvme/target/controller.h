// One host's controller: its properties, its features and its events. A pure state machine: no
// socket, no clock; the admin queue's connection drives it and tells it the time.
//
//             CC.EN = 1            CC.SHN != 0
//   disabled ───────────▶ ready ───────────────▶ shut down
//      ▲                    │ CC.EN = 0              │
//      └────────────────────┴────────────────────────┘     fatal: from anywhere, for good
//
// Threads: the loop of the admin queue.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/clock.h"
#include "nvme/auth/credentials.h"
#include "nvme/target/exchange.h"
#include "nvme/target/subsystem.h"

namespace forebay::nvme::target {

struct HostIdentity {
  HostId id{};
  std::string nqn;
  friend bool operator==(const HostIdentity&, const HostIdentity&) = default;
};

enum class ControllerState : std::uint8_t { kDisabled, kReady, kShutDown, kFatal };
[[nodiscard]] std::string_view to_string(ControllerState state);

// Asynchronous events (Base Specification 2.0, 5.2): the bit of feature 0Bh that asks for it, and
// what the completion says: type, information and the log page to read.
struct EventKind {
  std::uint32_t enable_bit;
  std::uint32_t result;
};
inline constexpr EventKind kNamespaceEvent{1U << 8, 0x00040002};
inline constexpr EventKind kDiscoveryEvent{1U << 31, 0x0070F002};
inline constexpr std::size_t kAsyncEventsMax = 4;           // AERL + 1
inline constexpr std::size_t kChangedNamespacesMax = 1024;  // of log page 04h

// Where the commands of a queue are.
class CommandAborter {
 public:
  virtual ~CommandAborter() = default;
  // Ends a command that was not started with kAbortRequested; false: there is none, or it was.
  [[nodiscard]] virtual bool abort_command(std::uint16_t command_id) = 0;
};

// Traffic of a controller's I/O queues, for the health log.
struct IoTotals {
  std::uint64_t read_bytes = 0;
  std::uint64_t write_bytes = 0;
  std::uint64_t read_commands = 0;
  std::uint64_t write_commands = 0;
};

class Controller {
 public:
  Controller(Subsystem& subsystem, std::uint16_t id, const HostIdentity& host)
      : subsystem_(subsystem), id_(id), host_(host) {}

  [[nodiscard]] Subsystem& subsystem() const { return subsystem_; }
  [[nodiscard]] std::uint16_t id() const { return id_; }
  [[nodiscard]] const HostIdentity& host() const { return host_; }
  [[nodiscard]] ControllerState state() const { return state_; }
  [[nodiscard]] bool discovery() const { return subsystem_.kind() == SubsystemKind::kDiscovery; }

  // What this host may see: null and false are as if there were no such namespace.
  [[nodiscard]] bool sees(const Namespace& found) const { return found.hosts.admits(host_.nqn); }
  [[nodiscard]] Namespace* find_namespace(std::uint32_t id) const;

  // Properties (3.1.3). False: there is no such property, or not of that size.
  [[nodiscard]] bool get_property(const PropertyFields& fields, std::uint64_t* value) const;
  [[nodiscard]] bool set_property(const PropertyFields& fields);
  // The association is over: no queue may join, its connections end.
  void die();
  [[nodiscard]] bool dying() const { return dying_; }

  // Queue ids 1 to io_queues_granted() may connect, each once. False: taken or out of range.
  [[nodiscard]] bool take_queue(std::uint16_t queue_id);
  void leave_queue(std::uint16_t queue_id) { queues_.erase(queue_id); }
  [[nodiscard]] bool has_queue(std::uint16_t queue_id) const { return queues_.contains(queue_id); }
  std::uint16_t grant_queues(std::uint16_t asked);

  // Of a queue that is connected; null when it ends.
  void set_aborter(std::uint16_t queue_id, CommandAborter* aborter);
  [[nodiscard]] bool abort_command(std::uint16_t queue_id, std::uint16_t command_id);

  // Keep alive (3.9): zero is off. Any command of any queue counts as a sign of life.
  void set_keep_alive(std::uint32_t milliseconds);
  [[nodiscard]] std::uint32_t keep_alive_ms() const { return keep_alive_ms_; }
  void note_life(Nanos now) { last_life_ = now; }
  // When it expires unless there is a sign of life; kForever when off.
  [[nodiscard]] Nanos expires_at() const;

  // Events: told once, then masked until their log page was read.
  [[nodiscard]] Progress hold_event_request(Exchange& exchange);
  void drop_event_request(Exchange& exchange) { std::erase(event_requests_, &exchange); }
  // Ends a held request with kAbortRequested. False when there is none with this id.
  bool abort_event_request(std::uint16_t command_id);
  void notify(EventKind kind);
  void notify_namespace(std::uint32_t namespace_id);
  void unmask(EventKind kind);
  std::uint32_t async_events = 0;  // feature 0Bh
  [[nodiscard]] const std::set<std::uint32_t>& changed_namespaces() const { return changed_; }
  void forget_changed_namespaces() { changed_.clear(); }

  IoTotals totals;
  // Its host must prove itself on each queue; null: it need not.
  std::shared_ptr<const auth::Credentials> credentials;

 private:
  void configure(std::uint32_t value);
  void deliver();

  Subsystem& subsystem_;
  std::uint16_t id_;
  HostIdentity host_;
  ControllerState state_ = ControllerState::kDisabled;
  bool dying_ = false;
  std::uint32_t configuration_ = 0;  // CC
  std::set<std::uint16_t> queues_;
  std::map<std::uint16_t, CommandAborter*> aborters_;
  std::uint16_t queues_granted_ = 0;
  std::uint32_t keep_alive_ms_ = 0;
  Nanos last_life_{};
  std::vector<Exchange*> event_requests_;
  std::vector<EventKind> pending_;  // to be told
  std::uint32_t masked_ = 0;        // enable bits of events that were told
  std::set<std::uint32_t> changed_;
};

}  // namespace forebay::nvme::target
