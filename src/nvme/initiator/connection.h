// A queue of the initiator on its socket.
//
//   idle ──start──▶ connecting ──▶ working (Queue::state() says how far) ──▶ closed
//
// With a key (QueueOptions::psk) all that goes over it is in TLS, whose handshake is a part of
// getting ready. Plain bytes then take a way through buffers of the session; without, they go from
// and to the memory of commands.
//
// Ownership: the owner keeps it until on_closed() and destroys it later, not from inside. Threads:
// one loop's. Nothing here blocks.
#pragma once

#include <sys/socket.h>

#include <memory>
#include <string_view>
#include <vector>

#include "io/loop.h"
#include "nvme/initiator/queue.h"
#include "nvme/tls/session.h"

namespace forebay::nvme::initiator {

enum class ConnectionState : std::uint8_t { kIdle, kConnecting, kWorking, kClosed };
[[nodiscard]] std::string_view to_string(ConnectionState state);

struct PeerAddress {
  sockaddr_storage storage{};
  socklen_t bytes = 0;
};

class Connection {
 public:
  class Owner {
   public:
    virtual ~Owner() = default;
    virtual void on_ready(Connection& connection) = 0;
    // An I/O command was not answered in its time: for an Abort. The connection ends soon.
    virtual void on_overdue(Connection& connection, std::uint16_t command_id) = 0;
    // Every command was given back and nothing is in flight; end_error() says why.
    virtual void on_closed(Connection& connection) = 0;
  };

  Connection(io::Loop& loop, Owner& owner, const PeerAddress& address, const QueueOptions& options);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // The queue must be ready within `patience`; then every command must be answered within
  // `command_time`, or an eighth more, or the connection ends with kTimedOut. For an I/O command
  // the owner is told of then, and has another quarter to have it ended by an Abort.
  void start(Nanos patience, Nanos command_time);
  // Queue::can_submit() only.
  void submit(QueueCommand& command);
  void abandon(QueueCommand& command, const Error& error);
  // Queue::reauthenticate(), where that is possible now.
  void reauthenticate();
  void close(const Error& error);

  [[nodiscard]] const Queue& queue() const { return queue_; }
  [[nodiscard]] ConnectionState state() const { return state_; }

 private:
  void on_connected();
  void receive();
  void on_received();
  [[nodiscard]] Error broken(std::int32_t os);
  void send();
  void submit_send();
  void on_sent();
  void advance();
  void submit_op(io::Op& op);
  void cancel_op(io::Op& op);
  void watch_ending();
  void watch_commands();

  // connection_tls.cc
  [[nodiscard]] std::span<const iovec> cipher_place();
  void cipher_received();
  void read_plain();
  void give_back_place(const Error& error);
  [[nodiscard]] std::span<const iovec> next_cipher();
  void cipher_sent(std::size_t size);
  [[nodiscard]] bool say_goodbye();

  io::Loop& loop_;
  Owner& owner_;
  PeerAddress address_;
  Queue queue_;
  ConnectionState state_ = ConnectionState::kIdle;
  io::FileId socket_ = io::kNoFile;
  io::Loop::Timer timer_;  // for getting ready, then for commands, then for ending
  Nanos command_time_{};
  bool ready_told_ = false;
  bool ending_watched_ = false;
  io::Op connect_op_;
  bool connecting_ = false;
  io::Op receive_op_;
  bool receiving_ = false;
  io::Loop::Prepare send_due_;
  io::Op send_op_;
  bool sending_ = false;
  std::unique_ptr<tls::Session> tls_;  // null: plain
  std::span<const iovec> place_;       // of plain bytes; the queue waits for some
  iovec cipher_in_{};
  iovec cipher_out_{};
  std::size_t taken_bytes_ = 0;  // of the queue's present send; 0: there is none
  bool goodbye_said_ = false;
  bool wire_broken_ = false;      // nothing more can be sent
  std::vector<io::Op*> refused_;  // by an engine that was full; submitted again soon
  io::Loop::Timer refused_timer_;
};

}  // namespace forebay::nvme::initiator
