// A host's association with one controller: the admin queue, the I/O queues, their keep-alive.
//
//   idle ─▶ connecting ─▶ setting up ─▶ connecting queues ─▶ guarding ─▶ ready ─▶ shutting down
//              └──────────────┴──────────────┴─ a queue ends, close() ─────┴──▶ ending ─▶ ended
//
// Any queue that ends takes the whole with it: a controller forgets its commands only when all of
// its queues are gone. Nothing here blocks. Keep Alive has the admin queue to itself once the
// controller is set up, so that no data stands before it.
//
// Ownership: the owner may destroy it from on_ended() on, from inside too. Threads: one loop's.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "nvme/initiator/connection.h"
#include "nvme/initiator/controller_setup.h"
#include "nvme/initiator/namespace_watch.h"
#include "nvme/initiator/write_guard.h"

namespace forebay::nvme::initiator {

enum class AssociationState : std::uint8_t {
  kIdle,
  kConnecting,
  kSettingUp,
  kConnectingQueues,
  kGuarding,  // becomes the only writer (WriteGuard), where that is asked for and offered
  kReady,
  kShuttingDown,
  kEnding,
  kEnded,
};
[[nodiscard]] std::string_view to_string(AssociationState state);

struct AssociationOptions {
  HostIdentity host;
  std::string subsystem_nqn;
  std::shared_ptr<const auth::Credentials> credentials;  // QueueOptions
  std::shared_ptr<const tls::Psk> psk;                   // QueueOptions
  Nanos reauthenticate_every{};                          // 0: never again
  std::uint32_t namespace_id = 1;
  std::uint16_t io_queues = 1;  // wished; the controller may grant fewer
  std::uint16_t io_entries = 128;
  Digests digests;
  Nanos keep_alive = std::chrono::seconds(5);     // 0: none. One is sent at half of it.
  Nanos connect_time = std::chrono::seconds(10);  // until all queues are connected
  Nanos command_time = std::chrono::seconds(30);
  bool guard = false;        // become the only writer
  bool guard_again = false;  // it was held before the connection was lost
  bool takeover = false;     // GuardWishes
};

class Association final : private Connection::Owner {
 public:
  class Owner {
   public:
    virtual ~Owner() = default;
    virtual void on_ready(Association& association) = 0;
    // The namespace is another than before, or of no use any more, or gone.
    virtual void on_namespace_changed(Association& /*association*/,
                                      const Result<ControllerFacts>& /*facts*/) {}
    // No command is here and nothing is in flight; end_error() says why.
    virtual void on_ended(Association& association) = 0;
  };

  Association(io::Loop& loop, Owner& owner, const AssociationOptions& options);
  ~Association() override;

  void start(const PeerAddress& address);
  // Tells the controller and waits for its answer, a second at most; then ends. Commands that are
  // on their way are answered or given back with kCancelled.
  void shut_down();
  // Ends without a word.
  void close(const Error& error);

  [[nodiscard]] AssociationState state() const { return state_; }
  [[nodiscard]] const ControllerFacts& facts() const { return setup_->facts(); }
  [[nodiscard]] std::uint16_t controller_id() const { return admin_->queue().controller_id(); }
  [[nodiscard]] const Error& end_error() const { return end_error_; }
  // Where that is kVersion: what the peer answered, if it was no NVMe/TCP.
  [[nodiscard]] std::string_view strange_answer() const {
    return admin_ ? admin_->queue().strange_answer() : std::string_view{};
  }
  // From kReady on, kHeld or kRefused; null: it was not asked for, or is not offered.
  [[nodiscard]] const WriteGuard* guard() const { return guard_.get(); }

  // The I/O queue with the most room for a command; null where none has any, or before kReady.
  [[nodiscard]] Connection* pick_queue();
  [[nodiscard]] std::size_t queue_count() const { return queues_.size(); }

 private:
  void on_ready(Connection& connection) override;
  void on_overdue(Connection& connection, std::uint16_t command_id) override;
  void on_closed(Connection& connection) override;
  void begin_set_up();
  void ask();
  void on_answer();
  void await_ready();
  void connect_queues();
  void begin_guard();
  [[nodiscard]] Nanos fence_patience() const;
  void ask_guard();
  void on_guard_answer();
  void become_ready();
  void begin_watch();
  void ask_watch();
  void on_watch_answer();
  void arm_keep_alive();
  void arm_authentication();
  void send_keep_alive();
  void send_shut_down();
  void await_shut_down();
  void end_when_closed();
  [[nodiscard]] QueueOptions queue_options(std::uint16_t id, std::uint16_t entries) const;

  struct Abort {
    QueueCommand command;
    bool on_its_way = false;
  };

  io::Loop& loop_;
  Owner& owner_;
  AssociationOptions options_;
  PeerAddress address_;
  AssociationState state_ = AssociationState::kIdle;
  Error end_error_{Errc::kGone, "nvme: not connected"};
  std::unique_ptr<Connection> admin_;
  std::vector<std::unique_ptr<Connection>> queues_;
  std::size_t next_queue_ = 0;  // where picking starts, so that equal ones take turns
  std::unique_ptr<ControllerSetup> setup_;
  std::unique_ptr<WriteGuard> guard_;
  std::unique_ptr<NamespaceWatch> watch_;
  Nanos ready_until_{};  // by then CSTS.RDY
  QueueCommand keep_alive_;
  bool keep_alive_sent_ = false;
  std::array<Abort, 4> aborts_;
  QueueCommand shut_down_;
  io::Loop::Timer keep_alive_timer_;
  io::Loop::Timer auth_timer_;
  io::Loop::Timer connect_timer_;
  io::Loop::Timer timer_;  // of set-up, of shutting down, then of telling the end
};

}  // namespace forebay::nvme::initiator
