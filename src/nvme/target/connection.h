// One TCP connection of a host: PDUs in, commands to the queue's handler, PDUs out.
//
//   negotiating ──ICReq──▶ connecting ──Connect──▶ live ──▶ closing ──▶ closed
//        └────────────────────┴─ fault: terminating ──────────┘
//
// Memory is bounded: one receive buffer, at most `entries` commands, and data from two pools. A
// command whose data is in its capsule and finds no memory stops the reading of this connection
// alone; others wait in line for the pool, each connection and each host with its share of it. A
// host that holds memory and does not move, neither reading answers nor sending the data that it
// was asked for, loses the connection after TargetLimits::stall_time.
//
// On a port that speaks TLS the first byte of the host says whether it does so too. All that
// follows then goes through a session's buffers; its handshake counts into the time that a stranger
// has.
//
// Ownership: the Target owns connections and destroys one after on_closed. Threads: one loop's.
#pragma once

#include <array>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/loop.h"
#include "nvme/auth/controller_side.h"
#include "nvme/pdu_encoder.h"
#include "nvme/pdu_parser.h"
#include "nvme/send_batch.h"
#include "nvme/target/command_slot.h"
#include "nvme/target/queues.h"
#include "nvme/tls/mode.h"
#include "nvme/tls/session.h"

namespace forebay::nvme::target {

enum class ConnectionState : std::uint8_t {
  kNegotiating,
  kConnecting,
  kLive,
  kTerminating,  // a terminate request is on its way; what still comes in is dropped
  kClosing,      // waits for what the kernel and the devices still hold
  kClosed,
};
[[nodiscard]] std::string_view to_string(ConnectionState state);

// What the connections of one loop share.
struct LoopShare {
  io::Loop& loop;
  const Subsystems& subsystems;
  const TargetLimits& limits;
  BufferPool& capsule_memory;   // in-capsule data
  HostShares& transfer_memory;  // everything else
  const tls::HostKeys& tls_keys;
};

// A connection as it comes.
struct Accepted {
  io::FileId socket = io::kNoFile;
  std::uint64_t number = 0;
  tls::TlsMode mode = tls::TlsMode::kOff;
};

struct HostWait {
  Nanos since = kForever;
  const char* why = nullptr;  // null: it waits for nothing
};

class Connection final : private CommandAborter {
 public:
  // Told what happens to a connection; may not destroy it from inside.
  class Owner {
   public:
    virtual ~Owner() = default;
    virtual void on_closing(Connection& connection) = 0;  // no command is taken any more
    virtual void on_closed(Connection& connection) = 0;   // nothing of it is in flight
  };

  Connection(LoopShare& share, Owner& owner, const Accepted& accepted);
  ~Connection() override;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void start();
  // Takes no more commands, answers those that it has, then closes.
  void drain();
  // Ends at once: nothing more is sent. Commands that a device has keep it in kClosing.
  void close(std::string_view why);

  [[nodiscard]] ConnectionState state() const { return state_; }
  // Null before Connect.
  [[nodiscard]] const std::shared_ptr<Controller>& controller() const { return controller_; }
  [[nodiscard]] std::uint16_t queue_id() const { return queue_id_; }
  [[nodiscard]] std::uint64_t number() const { return number_; }

 private:
  // connection.cc
  void on_connected(ConnectedQueue queue);
  void finish_closing();
  void close_when_drained();

  void take_share();

  // connection_auth.cc
  void begin_authentication();
  void on_authentication(const auth::ControllerSide& side);
  void log_refused(std::string_view why);
  // Its host need not prove itself, or has done so once.
  [[nodiscard]] bool admitted() const { return own_memory_ != nullptr; }

  // connection_watch.cc
  void watch_time();
  void watch_moves();
  [[nodiscard]] HostWait waits_for_host() const;

  // connection_receive.cc
  void receive();
  void on_received();
  void feed_pieces(std::size_t size);
  void feed(std::span<const std::byte> input);
  void on_header();
  void on_data();
  void on_end();
  void on_ic_request();
  void on_host_data_header();
  void on_host_data_end();
  void terminate(TerminateReason reason, std::uint32_t offset);
  [[nodiscard]] std::span<const iovec> receive_place();

  // connection_tls.cc
  [[nodiscard]] bool take_first_bytes(std::size_t size);
  void begin_tls(std::span<const std::byte> bytes);
  void cipher_received(std::size_t size);
  void on_tls_ready();
  void read_plain();
  void fail_tls();
  [[nodiscard]] std::span<const iovec> cipher_place();
  [[nodiscard]] std::span<const iovec> take_cipher();
  void say_goodbye();

  // connection_commands.cc
  CommandSlot* take_slot();
  void begin_command();
  void end_command();
  void want_memory(CommandSlot& slot);
  void on_memory(CommandSlot& slot, BufferPool::Lease lease);
  void have_all_data(CommandSlot& slot);
  void execute(CommandSlot& slot);
  void on_executed(CommandSlot& slot);
  void release_memory(CommandSlot& slot);
  void forget_memory(CommandSlot& slot);
  void release(CommandSlot& slot);
  void drop_commands();
  [[nodiscard]] bool abort_command(std::uint16_t command_id) override;

  // connection_send.cc
  void send();
  bool fill_batch();
  void append(CommandSlot& slot);
  void append_data(CommandSlot& slot, bool success);
  void append_response(CommandSlot& slot);
  void submit_send();
  void on_sent();
  [[nodiscard]] Cqe completion_of(const CommandSlot& slot) const;

  LoopShare& share_;
  Owner& owner_;
  io::FileId socket_;
  std::uint64_t number_;
  tls::TlsMode mode_;
  bool heard_ = false;                 // the first bytes came
  std::unique_ptr<tls::Session> tls_;  // null: plain
  tls::PskParties proven_;
  Channel channel_;
  iovec cipher_in_{};
  iovec cipher_out_{};
  std::size_t taken_bytes_ = 0;  // of the present batch, in the session's output
  ConnectionState state_ = ConnectionState::kNegotiating;
  bool draining_ = false;
  std::string_view drain_why_ = "the target ends";  // a literal
  bool refusal_told_ = false;
  io::Loop::Timer auth_timer_;
  io::Loop::Timer timer_;
  io::Loop::Timer stall_timer_;
  Nanos send_moved_at_{};  // when a part of what is being sent was last taken
  Nanos data_moved_at_{};  // when data that is due last came, or became due

  std::unique_ptr<QueueHandler> handler_;
  std::unique_ptr<QueueHandler> old_handler_;  // executes the very Connect that replaces it
  std::shared_ptr<Controller> controller_;
  std::uint16_t queue_id_ = 0;
  std::uint16_t entries_ = 1;
  bool flow_control_ = true;
  std::uint16_t queue_head_ = 0;
  SendFormat format_;

  std::deque<CommandSlot> slots_;  // entries_, and answers of a send; stable addresses
  std::vector<std::uint16_t> free_slots_;
  std::size_t awaiting_count_ = 0;  // slots whose R2T was sent and whose data is not all here
  MemoryShare stranger_memory_;     // until Connect was answered
  std::shared_ptr<MemoryShare> host_memory_;
  std::unique_ptr<MemoryShare> own_memory_;  // within the host's

  PduParser parser_;
  CommandSlot* incoming_ = nullptr;  // whose data is coming in
  bool paused_ = false;              // incoming_ has no memory yet
  std::span<const std::byte> rest_;  // received and not yet parsed, while paused
  io::Op receive_op_;
  std::vector<iovec> receive_pieces_;  // data in its place, then the input
  bool receiving_ = false;
  std::unique_ptr<std::byte[]> input_;

  IntrusiveQueue<CommandSlot, &CommandSlot::next> to_send_;
  std::optional<HeaderBytes> control_pdu_;  // ICResp or a terminate request: goes first
  io::Loop::Prepare send_due_;
  io::Op send_op_;
  bool sending_ = false;
  SendBatch outgoing_;
  std::vector<CommandSlot*> answered_;  // are free when the batch is sent
};

}  // namespace forebay::nvme::target
