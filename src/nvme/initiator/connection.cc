#include "nvme/initiator/connection.h"

#include <array>
#include <chrono>
#include <utility>

#include "core/check.h"

namespace forebay::nvme::initiator {
namespace {

// For a terminate request to leave; then the connection is closed without it.
constexpr Nanos kEndingTime = std::chrono::seconds(1);
// Until an engine that was full is asked again.
constexpr Nanos kRefusedTime = std::chrono::milliseconds(1);
// A command's time is counted in so many ticks.
constexpr std::uint32_t kTicks = 8;
constexpr std::uint32_t kAbortTicks = 2;

}  // namespace

std::string_view to_string(ConnectionState state) {
  constexpr std::array<std::string_view, 4> kNames{"idle", "connecting", "working", "closed"};
  return kNames[static_cast<std::size_t>(state)];
}

Connection::Connection(io::Loop& loop, Owner& owner, const PeerAddress& address,
                       const QueueOptions& options)
    : loop_(loop), owner_(owner), address_(address), queue_(options) {
  if (options.psk != nullptr) tls_ = tls::Session::connect(*options.psk);
}

Connection::~Connection() {
  FOREBAY_CHECK(state_ == ConnectionState::kIdle || state_ == ConnectionState::kClosed);
}

void Connection::start(Nanos patience, Nanos command_time) {
  FOREBAY_CHECK(state_ == ConnectionState::kIdle);
  command_time_ = command_time;
  state_ = ConnectionState::kConnecting;
  queue_.start();
  loop_.arm(timer_, loop_.now() + patience,
            [this] { close({Errc::kTimedOut, "nvme: the target did not answer in time"}); });
  const auto socket = loop_.engine().socket(address_.storage.ss_family);
  if (!socket) return close(socket.error());
  socket_ = *socket;
  connect_op_ = io::Op{};
  connect_op_.kind = io::OpKind::kConnect;
  connect_op_.file = socket_;
  connect_op_.address = &address_.storage;
  connect_op_.address_bytes = address_.bytes;
  connect_op_.context = this;
  connect_op_.on_done = [](io::Op& op) { static_cast<Connection*>(op.context)->on_connected(); };
  connecting_ = true;
  submit_op(connect_op_);
}

// The engine may be full of other things for now.
void Connection::submit_op(io::Op& op) {
  if (loop_.engine().submit(op)) return;
  refused_.push_back(&op);
  loop_.arm(refused_timer_, loop_.now() + kRefusedTime, [this] {
    std::vector<io::Op*> again;
    again.swap(refused_);
    for (io::Op* one : again) submit_op(*one);
  });
}

void Connection::cancel_op(io::Op& op) {
  if (std::erase(refused_, &op) == 0) return loop_.engine().cancel(op);
  op.done_bytes = fail(Errc::kCancelled, "nvme: cancelled before it began");
  op.on_done(op);
}

void Connection::on_connected() {
  connecting_ = false;
  if (state_ == ConnectionState::kConnecting) {
    if (connect_op_.done_bytes) {
      state_ = ConnectionState::kWorking;
    } else {
      const Error& why = connect_op_.done_bytes.error();
      queue_.close({why.code, "nvme: connect to the target", why.os});
    }
  }
  advance();
}

void Connection::submit(QueueCommand& command) {
  queue_.submit(command);
  send();
  if (queue_.state() >= QueueState::kEnding) advance();
}

void Connection::abandon(QueueCommand& command, const Error& error) {
  queue_.abandon(command, error);
}

void Connection::reauthenticate() {
  if (queue_.reauthenticate()) send();
}

void Connection::close(const Error& error) {
  if (state_ == ConnectionState::kClosed) return;
  queue_.close(error);
  if (sending_) cancel_op(send_op_);
  advance();
}

void Connection::receive() {
  if (receiving_ || queue_.state() >= QueueState::kEnding) return;
  receive_op_ = io::Op{};
  receive_op_.kind = io::OpKind::kReceive;
  receive_op_.file = socket_;
  receive_op_.buffers = tls_ ? cipher_place() : queue_.receive_place();
  receive_op_.context = this;
  receive_op_.on_done = [](io::Op& op) { static_cast<Connection*>(op.context)->on_received(); };
  receiving_ = true;
  submit_op(receive_op_);
}

void Connection::on_received() {
  receiving_ = false;
  const auto& done = receive_op_.done_bytes;
  if (tls_) {
    cipher_received();
  } else if (!done || *done == 0) {
    queue_.receive_failed(broken(done ? 0 : done.error().os));
  } else {
    queue_.received(*done);
  }
  advance();
}

// What it means that the wire is no more; 0: the peer closed it.
Error Connection::broken(std::int32_t os) {
  if (queue_.state() == QueueState::kNegotiating) {
    if (!tls_) {
      return {Errc::kGone, "nvme: the target closed at the first PDU: it may require TLS", os};
    }
    tls_->receive_ended();
    return tls_->error();
  }
  if (tls_) tls_->receive_ended();
  if (os != 0) return {Errc::kGone, "nvme: the connection broke", os};
  return tls_ ? tls_->error() : Error{Errc::kGone, "nvme: the target closed the connection"};
}

// Once a turn of the loop: what it brings leaves together.
void Connection::send() {
  if (sending_ || send_due_.armed() || state_ != ConnectionState::kWorking) return;
  loop_.arm(send_due_, [this] { submit_send(); });
}

void Connection::submit_send() {
  const auto pieces = tls_ ? next_cipher() : queue_.next_send();
  if (pieces.empty() && tls_ && queue_.state() == QueueState::kEnding) return advance();
  if (pieces.empty()) return;
  send_op_ = io::Op{};
  send_op_.kind = io::OpKind::kSend;
  send_op_.file = socket_;
  send_op_.buffers = pieces;
  send_op_.context = this;
  send_op_.on_done = [](io::Op& op) { static_cast<Connection*>(op.context)->on_sent(); };
  sending_ = true;
  submit_op(send_op_);
}

void Connection::on_sent() {
  sending_ = false;
  if (send_op_.done_bytes) {
    tls_ ? cipher_sent(*send_op_.done_bytes) : queue_.sent(*send_op_.done_bytes);
  } else {
    wire_broken_ = true;
    queue_.send_failed(broken(send_op_.done_bytes.error().os));
  }
  advance();
}

// Does what the queue's state asks for; the last thing that a callback of an operation does.
void Connection::advance() {
  if (state_ == ConnectionState::kClosed) return;
  if (queue_.state() == QueueState::kReady && !std::exchange(ready_told_, true)) {
    watch_commands();
    owner_.on_ready(*this);
  }
  if (state_ == ConnectionState::kWorking) {
    receive();
    send();
  }
  if (queue_.state() >= QueueState::kEnding) watch_ending();
}

void Connection::watch_commands() {
  loop_.arm(timer_, loop_.now() + command_time_ / kTicks, [this] {
    const std::uint32_t patience = queue_.id() == 0 ? kTicks : kTicks + kAbortTicks;
    if (queue_.tick(kTicks) > patience) {
      return close({Errc::kTimedOut, "nvme: a command was not answered in time"});
    }
    watch_commands();
    if (queue_.id() == 0) return;
    for (const std::uint16_t id : queue_.waiting_for(kTicks + 1)) owner_.on_overdue(*this, id);
  });
}

void Connection::watch_ending() {
  if (receiving_) cancel_op(receive_op_);
  if (!receiving_ && !place_.empty()) give_back_place(queue_.end_error());
  if (connecting_) cancel_op(connect_op_);
  if (!std::exchange(ending_watched_, true)) {
    loop_.arm(timer_, loop_.now() + kEndingTime, [this] {
      queue_.close(queue_.end_error());
      wire_broken_ = true;
      if (sending_) cancel_op(send_op_);
      advance();
    });
  }
  if (queue_.state() != QueueState::kEnded || receiving_ || sending_ || connecting_) return;
  if (state_ == ConnectionState::kClosed) return;  // cancel() above called back
  if (tls_ && say_goodbye()) return;
  state_ = ConnectionState::kClosed;
  timer_.cancel();
  refused_timer_.cancel();
  send_due_.cancel();
  if (socket_ != io::kNoFile) loop_.engine().close(std::exchange(socket_, io::kNoFile));
  owner_.on_closed(*this);
}

}  // namespace forebay::nvme::initiator
