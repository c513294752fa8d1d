// The sending half of a connection: answers are gathered into one send after another.
#include <algorithm>
#include <cstring>

#include "core/bytes.h"
#include "core/check.h"
#include "core/crc32c.h"
#include "nvme/target/connection.h"
#include "nvme/target/connection_limits.h"

namespace forebay::nvme::target {

void Connection::send() {
  if (sending_ || state_ >= ConnectionState::kClosing) return;
  if (fill_batch()) submit_send();
}

// False: there is nothing to send.
bool Connection::fill_batch() {
  staged_bytes_ = 0;
  pieces_.clear();
  first_piece_ = 0;
  answered_.clear();
  if (control_pdu_) {
    stage(control_pdu_->bytes());
    control_pdu_.reset();
  }
  std::size_t data_bytes = 0;
  while (!to_send_.empty() && data_bytes < kBatchBytesMax &&
         staged_bytes_ + kStagedAnswerBytesMax <= kStagingBytes &&
         pieces_.size() + 4 <= kBatchPiecesMax) {
    CommandSlot& slot = to_send_.pop_front();
    data_bytes += slot.use.data_bytes;
    append(slot);
  }
  return !pieces_.empty();
}

void Connection::append(CommandSlot& slot) {
  if (slot.ready_due) {
    slot.ready_due = false;  // its data may come from now on
    stage(encode_ready({.command_id = slot.exchange.sqe.command_id,
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
  stage(encode_data(PduType::kControllerData, flags, pdu, format_).bytes());
  pieces_.push_back({data.data(), data.size()});
  if (format_.digests.data) stage(bytes_of(crc32c(data)));
}

void Connection::append_response(CommandSlot& slot) {
  stage(encode_response(completion_of(slot), format_).bytes());
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

// Puts bytes behind those before; neighbours in the staging memory become one piece.
void Connection::stage(std::span<const std::byte> bytes) {
  FOREBAY_CHECK_LE(staged_bytes_ + bytes.size(), kStagingBytes);
  std::byte* place = staging_.get() + staged_bytes_;
  std::memcpy(place, bytes.data(), bytes.size());
  staged_bytes_ += bytes.size();
  if (!pieces_.empty()) {
    iovec& last = pieces_.back();
    if (static_cast<std::byte*>(last.iov_base) + last.iov_len == place) {
      last.iov_len += bytes.size();
      return;
    }
  }
  pieces_.push_back({place, bytes.size()});
}

void Connection::submit_send() {
  send_op_ = io::Op{};
  send_op_.kind = io::OpKind::kSend;
  send_op_.file = socket_;
  send_op_.buffers = std::span(pieces_).subspan(first_piece_);
  send_op_.context = this;
  send_op_.on_done = [](io::Op& op) { static_cast<Connection*>(op.context)->on_sent(); };
  sending_ = share_.loop.engine().submit(send_op_).has_value();
  if (!sending_) close("the engine's queue is full");
}

void Connection::on_sent() {
  sending_ = false;
  if (state_ == ConnectionState::kClosing) return finish_closing();
  if (!send_op_.done_bytes) return close(to_string(send_op_.done_bytes.error()));
  std::size_t sent = *send_op_.done_bytes;
  while (first_piece_ < pieces_.size() && sent >= pieces_[first_piece_].iov_len) {
    sent -= pieces_[first_piece_++].iov_len;
  }
  if (first_piece_ < pieces_.size()) {
    iovec& piece = pieces_[first_piece_];
    piece = {static_cast<std::byte*>(piece.iov_base) + sent, piece.iov_len - sent};
    return submit_send();
  }
  for (CommandSlot* slot : answered_) release(*slot);
  answered_.clear();
  send();
  close_when_drained();
}

}  // namespace forebay::nvme::target
