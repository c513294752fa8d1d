// The sending half of a connection: answers are gathered into one send after another.
#include <utility>

#include "core/bytes.h"
#include "core/crc32c.h"
#include "nvme/target/connection.h"
#include "nvme/target/connection_limits.h"

namespace forebay::nvme::target {

// Once a turn of the loop: what it brings leaves together.
void Connection::send() {
  if (sending_ || send_due_.armed() || state_ >= ConnectionState::kClosing) return;
  share_.loop.arm(send_due_, [this] {
    if (fill_batch() || (tls_ && !tls_->output().empty())) submit_send();
  });
}

// False: there is nothing to send.
bool Connection::fill_batch() {
  outgoing_.clear();
  answered_.clear();
  if (control_pdu_) {
    outgoing_.stage(control_pdu_->bytes());
    control_pdu_.reset();
  }
  std::size_t data_bytes = 0;
  while (!to_send_.empty() && data_bytes < kBatchBytesMax &&
         outgoing_.staging_left() >= kStagedAnswerBytesMax &&
         outgoing_.piece_count() + 4 <= kBatchPiecesMax) {
    CommandSlot& slot = to_send_.pop_front();
    data_bytes += slot.use.data_bytes;
    append(slot);
  }
  return !outgoing_.rest().empty();
}

void Connection::append(CommandSlot& slot) {
  if (slot.ready_due) {
    slot.ready_due = false;  // its data may come from now on
    if (awaiting_count_++ == 0) data_moved_at_ = share_.loop.now();
    outgoing_.stage(encode_ready({.command_id = slot.exchange.sqe.command_id,
                                  .transfer_tag = slot.tag,
                                  .data_bytes = slot.use.data_bytes},
                                 format_)
                        .bytes());
    return;
  }
  answered_.push_back(&slot);
  const bool with_data = slot.exchange.status.ok() && !slot.exchange.out.empty();
  // The host does not need a response that says nothing: only without flow control (3.3.2.1).
  const bool success = with_data && !flow_control_ && slot.exchange.result == 0;
  if (with_data) append_data(slot, success);
  if (!success) append_response(slot);
}

void Connection::append_data(CommandSlot& slot, bool success) {
  const std::span<std::byte> data = slot.exchange.out;
  const auto flags = static_cast<std::uint8_t>(kFlagLast | (success ? kFlagSuccess : 0));
  const DataPdu pdu{.command_id = slot.exchange.sqe.command_id,
                    .data_bytes = static_cast<std::uint32_t>(data.size())};
  outgoing_.stage(encode_data(PduType::kControllerData, flags, pdu, format_).bytes());
  outgoing_.append({data.data(), data.size()});
  if (format_.digests.data) outgoing_.stage(bytes_of(crc32c(data)));
}

void Connection::append_response(CommandSlot& slot) {
  outgoing_.stage(encode_response(completion_of(slot), format_).bytes());
}

Cqe Connection::completion_of(const CommandSlot& slot) const {
  const Sqe& sqe = slot.exchange.sqe;
  Cqe cqe;
  cqe.result = slot.exchange.result;
  // Without flow control the head says nothing; in the answer to Connect this value says so.
  cqe.queue_head = flow_control_ ? queue_head_ : 0xFFFF;
  cqe.command_id = sqe.command_id;
  cqe.status = slot.exchange.status.wire();
  return cqe;
}

void Connection::submit_send() {
  send_op_ = io::Op{};
  send_op_.kind = io::OpKind::kSend;
  send_op_.file = socket_;
  send_op_.buffers = tls_ ? take_cipher() : outgoing_.rest();
  if (send_op_.buffers.empty()) return close(tls_->error().what);
  send_op_.context = this;
  send_op_.on_done = [](io::Op& op) { static_cast<Connection*>(op.context)->on_sent(); };
  sending_ = share_.loop.engine().submit(send_op_).has_value();
  if (!sending_) return close("the engine's queue is full");
  send_moved_at_ = share_.loop.now();
  watch_moves();
}

void Connection::on_sent() {
  sending_ = false;
  if (state_ == ConnectionState::kClosing) return finish_closing();
  if (!send_op_.done_bytes) return close(to_string(send_op_.done_bytes.error()));
  std::size_t size = *send_op_.done_bytes;
  if (tls_) {
    tls_->sent(size);
    if (!tls_->output().empty()) return submit_send();
    if (tls_->state() == tls::SessionState::kFailed) return close(tls_->error().what);
    size = std::exchange(taken_bytes_, 0);
  }
  if (!outgoing_.advance(size)) return submit_send();
  for (CommandSlot* slot : answered_) release(*slot);
  answered_.clear();
  send();
  close_when_drained();
}

}  // namespace forebay::nvme::target
