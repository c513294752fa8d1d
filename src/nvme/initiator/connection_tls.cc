// A connection's way through TLS: what the socket brings becomes plain bytes in the queue's place,
// what the queue sends becomes records.
#include <utility>

#include "nvme/initiator/connection.h"

namespace forebay::nvme::initiator {

// The queue's place is held while the session has no plain bytes for it.
std::span<const iovec> Connection::cipher_place() {
  const bool ready = tls_->state() == tls::SessionState::kReady;
  if (ready && place_.empty()) place_ = queue_.receive_place();
  const auto place = tls_->receive_place();
  cipher_in_ = {place.data(), place.size()};
  return {&cipher_in_, 1};
}

void Connection::cipher_received() {
  const auto& done = receive_op_.done_bytes;
  if (!done || *done == 0) return give_back_place(broken(done ? 0 : done.error().os));
  tls_->received(*done);
  read_plain();
  if (queue_.state() >= QueueState::kEnding) return;
  if (tls_->state() >= tls::SessionState::kEnded) give_back_place(tls_->error());
}

void Connection::read_plain() {
  while (tls_->state() == tls::SessionState::kReady && queue_.state() < QueueState::kEnding) {
    if (place_.empty()) place_ = queue_.receive_place();
    const std::size_t size = tls_->read(place_);
    if (size == 0) return;
    place_ = {};
    queue_.received(size);
  }
}

void Connection::give_back_place(const Error& error) {
  if (place_.empty()) return queue_.close(error);
  place_ = {};
  queue_.receive_failed(error);
}

// A handshake's or an alert's bytes go with those of the queue.
std::span<const iovec> Connection::next_cipher() {
  if (tls_->state() == tls::SessionState::kReady && taken_bytes_ == 0) {
    const auto pieces = queue_.next_send();
    if (!pieces.empty()) taken_bytes_ = tls_->write(pieces);
    if (!pieces.empty() && taken_bytes_ == 0) queue_.send_failed(tls_->error());
  }
  const auto output = tls_->output();
  cipher_out_ = {const_cast<std::byte*>(output.data()), output.size()};  // it is only read
  return output.empty() ? std::span<const iovec>{} : std::span<const iovec>{&cipher_out_, 1};
}

void Connection::cipher_sent(std::size_t size) {
  tls_->sent(size);
  if (tls_->output().empty() && taken_bytes_ != 0) queue_.sent(std::exchange(taken_bytes_, 0));
}

// True while the end, or why it is one, is on its way to the peer.
bool Connection::say_goodbye() {
  if (wire_broken_ || state_ != ConnectionState::kWorking) return false;
  if (!std::exchange(goodbye_said_, true)) tls_->close();
  send_due_.cancel();
  submit_send();
  return sending_;
}

}  // namespace forebay::nvme::initiator
