// One queue of the initiator, apart from its socket: bytes in, commands done, bytes out.
//
//   idle ──start──▶ negotiating ──ICResp──▶ connecting ──Connect done──▶ (authenticating) ─▶ ready
//                        └──────────┴─ fault, close() ─▶ ending ─▶ ended ◀──────┴───────────────┘
//
// A peer that breaks the protocol ends the queue with a named reason; whatever it sends, nothing is
// written but the memory of the read that asked for it. An identifier carries its slot's generation
// and stays taken until its answer came: a late answer of an abandoned command meets nobody.
//
// Memory is bounded by `entries`. Ownership: QueueCommand says. Threads: one loop's; pure, but for
// the callbacks of commands, which may submit more.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/intrusive_queue.h"
#include "nvme/initiator/queue_auth.h"
#include "nvme/initiator/queue_command.h"
#include "nvme/initiator/queue_slot.h"
#include "nvme/pdu_encoder.h"
#include "nvme/pdu_parser.h"
#include "nvme/send_batch.h"
#include "nvme/tls/psk.h"

namespace forebay::nvme::initiator {

enum class QueueState : std::uint8_t {
  kIdle,
  kNegotiating,
  kConnecting,
  kAuthenticating,  // where the controller asks for it
  kReady,
  kEnding,  // a terminate request may be on its way; the kernel may hold memory of commands
  kEnded,   // every command was given back
};
[[nodiscard]] std::string_view to_string(QueueState state);

struct HostIdentity {
  std::array<std::byte, 16> id{};
  std::string nqn;
};

struct QueueOptions {
  std::uint16_t queue_id = 0;                   // 0: the admin queue
  std::uint16_t entries = 32;                   // 2 to 1024; one fewer commands are in flight
  std::uint16_t controller_id = 0xFFFF;         // of the admin queue's Connect, for I/O queues
  std::uint32_t keep_alive_ms = 0;              // admin queue: 0 is none
  std::uint32_t capsule_data_bytes_max = 8192;  // written in the capsule up to this size
  Digests digests;                              // asked for; a peer without them is refused
  HostIdentity host;
  std::string subsystem_nqn;
  // With which this host proves itself where it is asked to, and the controller, where they hold a
  // key of its; null: a controller that asks is refused.
  std::shared_ptr<const auth::Credentials> credentials;
  std::shared_ptr<const tls::Psk> psk;  // of its connection, over TLS; null: plain
};

class Queue {
 public:
  explicit Queue(const QueueOptions& options);
  ~Queue();
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  [[nodiscard]] QueueState state() const { return state_; }
  // Why it ended. kGone where the peer or the network did it.
  [[nodiscard]] const Error& end_error() const { return end_error_; }
  [[nodiscard]] std::uint16_t id() const { return options_.queue_id; }
  // From the answer to Connect.
  [[nodiscard]] std::uint16_t controller_id() const { return controller_id_; }
  // Where end_error() is kVersion: what the peer began with, which was no NVMe/TCP.
  [[nodiscard]] std::string_view strange_answer() const { return strange_answer_; }

  void start();
  [[nodiscard]] std::size_t free_count() const { return free_slots_.size(); }
  [[nodiscard]] bool can_submit() const {
    return state_ == QueueState::kReady && !free_slots_.empty();
  }
  // can_submit() only. The memory that it reads into may hold a part when it fails.
  void submit(QueueCommand& command);
  // Gives a command back with `error`, now or when the kernel lets go of its memory. A command that
  // carries data to the controller and was sent is not given back: it may still take effect.
  void abandon(QueueCommand& command, const Error& error);
  // One tick of the owner's clock; through how many the longest unanswered command, abandoned or
  // not, has waited; of untimed ones nothing is counted. 0: there is none. A command that waited
  // through more than `due` is overdue.
  [[nodiscard]] std::uint32_t tick(std::uint32_t due);
  // Identifiers of those that were sent, not answered, and waited through just so many ticks.
  [[nodiscard]] std::vector<std::uint16_t> waiting_for(std::uint32_t ticks) const;
  // Proves itself once more while commands go on. False: there is no room for a command, nothing to
  // prove itself with, or it is doing so. A failure ends the queue.
  [[nodiscard]] bool reauthenticate();
  // How often it began to.
  [[nodiscard]] std::uint16_t authentication_count() const { return transaction_; }
  // Ends at once, without a word to the peer.
  void close(const Error& error);

  // Where the next bytes go, the present read's own memory first. Then received() or, when the
  // socket failed or closed, receive_failed(), exactly once.
  [[nodiscard]] std::span<const iovec> receive_place();
  void received(std::size_t size);
  void receive_failed(const Error& error);
  // What to send next: empty when there is nothing, or when a send is under way. Then sent(), which
  // may be short, or send_failed().
  [[nodiscard]] std::span<const iovec> next_send();
  void sent(std::size_t size);
  void send_failed(const Error& error);

 private:
  // queue.cc
  void end(const Error& error);
  void finish_ending();
  void return_command(QueueCommand& command, const Result<std::uint64_t>& result);
  void complete(Slot& slot, const Cqe& cqe);
  void finish(Slot& slot);
  void release(Slot& slot);
  void send_connect();
  void on_connected();
  void enqueue(QueueCommand& command);
  [[nodiscard]] Slot* find_slot(std::uint16_t command_id);
  [[nodiscard]] static std::uint16_t command_id(const Slot& slot);
  [[nodiscard]] Slot& take_slot(QueueCommand& command);

  // queue_auth.cc
  void begin_authentication();
  void continue_authentication();
  void on_auth_answer();

  // queue_receive.cc
  void feed(std::span<const std::byte> input);
  void on_header();
  void on_data();
  void on_end();
  void on_ic_response();
  void on_data_header();
  void on_data_end();
  void on_response();
  void on_ready_to_transfer();
  void refuse(TerminateReason reason, std::uint32_t offset, Literal why);
  void on_fault(std::span<const std::byte> input);

  // queue_send.cc
  void fill_batch();
  void append_command(Slot& slot);
  void append_host_data(Slot& slot);
  std::uint32_t gather(Slot& slot, std::uint32_t bytes);
  void append_gathered();
  void mark_in_batch(Slot& slot);
  void on_batch_sent();

  QueueOptions options_;
  QueueState state_ = QueueState::kIdle;
  Error end_error_{Errc::kGone, "nvme: not connected"};
  std::uint16_t controller_id_ = 0;
  std::string strange_answer_;
  SendFormat format_;
  std::uint32_t host_data_bytes_max_ = 4096;

  std::vector<Slot> slots_;
  std::vector<std::uint16_t> free_slots_;
  QueueCommand connect_;
  ConnectData connect_data_;
  iovec connect_piece_{};
  std::unique_ptr<QueueAuth> auth_;  // null before the first
  std::uint16_t transaction_ = 0;

  PduParser parser_;
  Slot* incoming_ = nullptr;  // whose data is coming in
  bool receiving_ = false;
  std::unique_ptr<std::byte[]> input_;
  std::vector<iovec> receive_pieces_;

  IntrusiveQueue<Slot, &Slot::next> to_send_;
  std::optional<HeaderBytes> control_pdu_;  // ICReq or a terminate request: goes first
  bool sending_ = false;
  SendBatch outgoing_;
  std::vector<iovec> gathered_;
  std::vector<Slot*> batch_;
};

}  // namespace forebay::nvme::initiator
