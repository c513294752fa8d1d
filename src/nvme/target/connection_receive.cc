// The receiving half of a connection: from bytes to commands and their data.
#include <algorithm>
#include <cstring>
#include <utility>

#include "core/log.h"
#include "nvme/target/connection.h"
#include "nvme/target/connection_limits.h"

namespace forebay::nvme::target {

// Where the next bytes go: large data straight to its command, all else to the input buffer.
std::span<const iovec> Connection::receive_place() {
  receive_pieces_.clear();
  const std::size_t left = parser_.data_left();
  if (incoming_ != nullptr && incoming_->memory.held() && left >= kDirectBytesMin) {
    const auto place = incoming_->data().subspan(incoming_->received_bytes, left);
    receive_pieces_.push_back({place.data(), place.size()});
  }
  receive_pieces_.push_back({input_.get(), kInputBytes});
  return receive_pieces_;
}

void Connection::receive() {
  if (receiving_ || paused_ || draining_ || state_ >= ConnectionState::kClosing) return;
  if (tls_) {
    read_plain();
    if (receiving_ || paused_ || draining_ || state_ >= ConnectionState::kClosing) return;
  }
  receive_op_ = io::Op{};
  receive_op_.kind = io::OpKind::kReceive;
  receive_op_.file = socket_;
  receive_op_.buffers = tls_ ? cipher_place() : receive_place();
  receive_op_.context = this;
  receive_op_.on_done = [](io::Op& op) { static_cast<Connection*>(op.context)->on_received(); };
  receiving_ = share_.loop.engine().submit(receive_op_).has_value();
  if (!receiving_) close("the engine's queue is full");
}

void Connection::on_received() {
  receiving_ = false;
  if (state_ == ConnectionState::kClosing) {
    finish_closing();
    return;
  }
  const auto& done = receive_op_.done_bytes;
  if (!done || *done == 0) {
    if (draining_) return close_when_drained();
    if (tls_) tls_->receive_ended();
    close(done ? "the host closed" : to_string(done.error()));
    return;
  }
  if (tls_) {
    cipher_received(*done);
  } else if (heard_ || take_first_bytes(*done)) {
    feed_pieces(*done);
  }
  receive();
}

void Connection::feed_pieces(std::size_t left) {
  for (const iovec& piece : receive_pieces_) {
    const std::size_t here = std::min(left, piece.iov_len);
    if (here == 0) break;
    feed({static_cast<const std::byte*>(piece.iov_base), here});
    left -= here;
  }
}

void Connection::feed(std::span<const std::byte> input) {
  while (state_ < ConnectionState::kTerminating) {
    switch (parser_.next(input)) {
      case PduEvent::kMore:
        return;
      case PduEvent::kHeader:
        on_header();
        break;
      case PduEvent::kData:
        on_data();
        break;
      case PduEvent::kEnd:
        on_end();
        break;
      case PduEvent::kFault:
        terminate(parser_.fault().reason, parser_.fault().offset);
        return;
    }
    if (paused_) {
      rest_ = input;
      return;
    }
  }
}

void Connection::on_header() {
  if (parser_.type() == PduType::kCommand) begin_command();
  if (parser_.type() == PduType::kHostData) on_host_data_header();
}

void Connection::on_data() {
  // Data of a command that is refused, or of a terminate request, has no place.
  if (incoming_ == nullptr || !incoming_->memory.held()) return;
  const auto data = parser_.data();
  const auto place = incoming_->data().subspan(incoming_->received_bytes, data.size());
  if (place.data() != data.data()) std::memcpy(place.data(), data.data(), data.size());
  incoming_->received_bytes += static_cast<std::uint32_t>(data.size());
  data_moved_at_ = share_.loop.now();
}

void Connection::on_end() {
  switch (parser_.type()) {
    case PduType::kIcRequest:
      on_ic_request();
      break;
    case PduType::kCommand:
      end_command();
      break;
    case PduType::kHostData:
      on_host_data_end();
      break;
    case PduType::kHostTerminate:
      close("the host refused a PDU");
      break;
    case PduType::kIcResponse:
    case PduType::kControllerTerminate:
    case PduType::kResponse:
    case PduType::kControllerData:
    case PduType::kReadyToTransfer:
      break;
  }
}

void Connection::on_ic_request() {
  constexpr std::uint32_t kFormatAt = 8;
  constexpr std::uint32_t kDataAlignAt = 10;
  const auto asked = parser_.header<IcRequest>();
  if (asked.format != 0) return terminate(TerminateReason::kUnsupported, kFormatAt);
  if (asked.data_align > kDataAlignMax) {
    return terminate(TerminateReason::kInvalidField, kDataAlignAt);
  }
  format_ = {.digests = digests_of(asked.digests),
             .data_align_bytes = data_align_bytes(asked.data_align)};
  parser_.initialize(format_.digests);
  state_ = ConnectionState::kConnecting;
  control_pdu_ = encode_ic_response({.digests = bits_of(format_.digests),
                                     .host_data_bytes_max = share_.limits.host_data_bytes_max});
  send();
}

// Only what an R2T asked for, in order (3.3.2.2): anything else ends the connection.
void Connection::on_host_data_header() {
  constexpr std::uint32_t kCommandIdAt = 8;
  constexpr std::uint32_t kTagAt = 10;
  constexpr std::uint32_t kOffsetAt = 12;
  const auto pdu = parser_.header<DataPdu>();
  if (pdu.transfer_tag >= slots_.size()) {
    return terminate(TerminateReason::kInvalidField, kTagAt);
  }
  CommandSlot& slot = slots_[pdu.transfer_tag];
  if (slot.state != SlotState::kAwaitingData || slot.ready_due) {
    return terminate(TerminateReason::kSequence, kTagAt);
  }
  if (slot.exchange.sqe.command_id != pdu.command_id) {
    return terminate(TerminateReason::kInvalidField, kCommandIdAt);
  }
  const bool last = (pdu.common.flags & kFlagLast) != 0;
  const std::uint32_t left = slot.use.data_bytes - slot.received_bytes;
  if (pdu.data_offset != slot.received_bytes || pdu.data_bytes > left ||
      last != (pdu.data_bytes == left)) {
    return terminate(TerminateReason::kDataOutOfRange, kOffsetAt);
  }
  incoming_ = &slot;
}

void Connection::on_host_data_end() {
  if (incoming_ == nullptr) return;
  CommandSlot& slot = *std::exchange(incoming_, nullptr);
  slot.intact = slot.intact && parser_.data_intact();
  if (slot.received_bytes != slot.use.data_bytes) return;
  --awaiting_count_;
  have_all_data(slot);
}

}  // namespace forebay::nvme::target
