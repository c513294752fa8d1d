// The receiving half of a queue: from bytes to data in its place and commands that are done.
#include <algorithm>
#include <cstring>

#include "core/check.h"
#include "nvme/initiator/queue.h"
#include "nvme/initiator/queue_limits.h"

namespace forebay::nvme::initiator {
namespace {

// Offsets of fields within headers, as terminate requests tell them.
constexpr std::uint32_t kFlagsAt = 1;
constexpr std::uint32_t kCommandIdAt = 8;
constexpr std::uint32_t kOffsetAt = 12;
constexpr std::uint32_t kDataBytesAt = 16;
constexpr std::uint32_t kCqeIdAt = 8 + offsetof(Cqe, command_id);

}  // namespace

std::span<const iovec> Queue::receive_place() {
  FOREBAY_CHECK(!receiving_);
  receiving_ = true;
  receive_pieces_.clear();
  std::size_t left = parser_.data_left();
  if (incoming_ != nullptr && incoming_->command != nullptr && left >= kDirectBytesMin) {
    ScatterCursor cursor = incoming_->cursor;
    while (left > 0 && receive_pieces_.size() < kReceivePiecesMax) {
      const auto place = cursor.take(left);
      receive_pieces_.push_back({place.data(), place.size()});
      left -= place.size();
    }
  }
  receive_pieces_.push_back({input_.get(), kInputBytes});
  return receive_pieces_;
}

void Queue::received(std::size_t size) {
  receiving_ = false;
  for (const iovec& piece : receive_pieces_) {
    const std::size_t here = std::min(size, piece.iov_len);
    if (here == 0) break;
    feed({static_cast<const std::byte*>(piece.iov_base), here});
    size -= here;
  }
  FOREBAY_CHECK(size == 0);
  finish_ending();
}

void Queue::receive_failed(const Error& error) {
  receiving_ = false;
  close(error);
}

void Queue::feed(std::span<const std::byte> input) {
  while (state_ < QueueState::kEnding) {
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
        return on_fault(input);
    }
  }
}

// `input` follows what the parser has of the header. A fault in the very first PDU is another
// protocol: a web server's, a shell's.
void Queue::on_fault(std::span<const std::byte> input) {
  const PduFault& fault = parser_.fault();
  if (state_ == QueueState::kNegotiating) {
    const auto add = [this](std::span<const std::byte> bytes) {
      const std::size_t room = kStrangeBytesMax - strange_answer_.size();
      strange_answer_.append(reinterpret_cast<const char*>(bytes.data()),
                             std::min(bytes.size(), room));
    };
    add(parser_.header_bytes());
    add(input);
    return end({Errc::kVersion, "nvme: what answers there does not speak NVMe/TCP"});
  }
  refuse(fault.reason, fault.offset,
         fault.reason == TerminateReason::kHeaderDigest
             ? Literal("nvme: the target sent a PDU whose header digest does not fit")
             : Literal("nvme: the target sent a malformed PDU"));
}

// Tells the peer why, then ends.
void Queue::refuse(TerminateReason reason, std::uint32_t offset, Literal why) {
  control_pdu_ = encode_terminate(PduType::kHostTerminate, reason, offset, parser_.header_bytes());
  incoming_ = nullptr;
  end(Error(Errc::kGone, why));
}

void Queue::on_header() {
  if (parser_.type() == PduType::kControllerData) on_data_header();
}

void Queue::on_data() {
  if (incoming_ == nullptr) return;  // of a terminate request
  auto data = parser_.data();
  incoming_->received_bytes += static_cast<std::uint32_t>(data.size());
  if (incoming_->command == nullptr) return;
  while (!data.empty()) {
    const auto place = incoming_->cursor.take(data.size());
    if (place.data() != data.data()) std::memcpy(place.data(), data.data(), place.size());
    data = data.subspan(place.size());
  }
}

void Queue::on_end() {
  switch (parser_.type()) {
    case PduType::kIcResponse:
      return on_ic_response();
    case PduType::kControllerData:
      return on_data_end();
    case PduType::kResponse:
      return on_response();
    case PduType::kReadyToTransfer:
      return on_ready_to_transfer();
    case PduType::kControllerTerminate:
      return end({Errc::kGone, "nvme: the target refused a PDU and ended the connection"});
    case PduType::kIcRequest:
    case PduType::kHostTerminate:
    case PduType::kCommand:
    case PduType::kHostData:
      break;  // the parser lets none of them in
  }
}

void Queue::on_ic_response() {
  constexpr std::uint32_t kFormatAt = 8;
  constexpr std::uint32_t kDataAlignAt = 10;
  constexpr std::uint32_t kDigestsAt = 11;
  constexpr std::uint32_t kHostDataMaxAt = 12;
  constexpr std::uint32_t kHostDataMaxMin = 4096;
  const auto answer = parser_.header<IcResponse>();
  if (answer.format != 0) {
    return refuse(TerminateReason::kUnsupported, kFormatAt, "nvme: another PDU format version");
  }
  if (answer.data_align > kDataAlignMax) {
    return refuse(TerminateReason::kInvalidField, kDataAlignAt, "nvme: CPDA is beyond 31");
  }
  if (answer.digests != bits_of(options_.digests)) {
    return refuse(TerminateReason::kUnsupported, kDigestsAt,
                  "nvme: the target did not agree to the digests asked for");
  }
  if (answer.host_data_bytes_max < kHostDataMaxMin || answer.host_data_bytes_max % 4 != 0) {
    return refuse(TerminateReason::kInvalidField, kHostDataMaxAt, "nvme: MAXH2CDATA is invalid");
  }
  format_ = {.digests = options_.digests, .data_align_bytes = data_align_bytes(answer.data_align)};
  // Linux's target checks a data digest over all that it asked for: that must be one PDU then.
  host_data_bytes_max_ = options_.digests.data
                             ? answer.host_data_bytes_max
                             : std::min(answer.host_data_bytes_max, kHostDataBytesMax);
  parser_.initialize(options_.digests);
  send_connect();
}

void Queue::on_data_header() {
  const auto pdu = parser_.header<DataPdu>();
  Slot* slot = find_slot(pdu.command_id);
  if (slot == nullptr || slot->direction != DataDirection::kToHost) {
    return refuse(TerminateReason::kInvalidField, kCommandIdAt,
                  "nvme: the target sent data that no command asked for");
  }
  if (pdu.data_offset != slot->received_bytes || slot->last_received) {
    return refuse(TerminateReason::kDataOutOfRange, kOffsetAt,
                  "nvme: the target sent data out of order");
  }
  if (pdu.data_bytes > slot->data_bytes - slot->received_bytes) {
    return refuse(TerminateReason::kDataOutOfRange, kDataBytesAt,
                  "nvme: the target sent more data than was asked for");
  }
  const bool last = (pdu.common.flags & kFlagLast) != 0;
  if ((pdu.common.flags & kFlagSuccess) != 0 && !last) {
    return refuse(TerminateReason::kInvalidField, kFlagsAt,
                  "nvme: the target sent SUCCESS without LAST");
  }
  slot->last_received = last;
  incoming_ = slot;
}

void Queue::on_data_end() {
  Slot& slot = *incoming_;
  incoming_ = nullptr;
  slot.damaged = slot.damaged || !parser_.data_intact();
  if (slot.abandoned) {
    QueueCommand& command = *std::exchange(slot.command, nullptr);
    const Error error = *std::exchange(slot.abandoned, std::nullopt);
    return_command(command, std::unexpected(error));
  }
  const auto flags = parser_.header<CommonHeader>().flags;
  if ((flags & kFlagSuccess) == 0) return;
  if (slot.received_bytes != slot.data_bytes) {
    return refuse(TerminateReason::kInvalidField, kFlagsAt,
                  "nvme: the target called a read done before all its data");
  }
  complete(slot, Cqe{});
}

void Queue::on_response() {
  const Cqe cqe = parser_.header<ResponseCapsule>().cqe;
  Slot* slot = find_slot(cqe.command_id);
  if (slot == nullptr) {
    return refuse(TerminateReason::kInvalidField, kCqeIdAt,
                  "nvme: the target answered a command that is not in flight");
  }
  const bool ok = CommandStatus::from_wire(cqe.status).ok();
  if (ok && slot->direction == DataDirection::kToHost && slot->received_bytes != slot->data_bytes) {
    return refuse(TerminateReason::kSequence, kCqeIdAt,
                  "nvme: the target called a read done before all its data");
  }
  const bool sent = slot->in_capsule || slot->direction != DataDirection::kFromHost ||
                    (slot->asked_bytes == slot->data_bytes && slot->due_bytes == 0);
  if (ok && !sent) {
    return refuse(TerminateReason::kSequence, kCqeIdAt,
                  "nvme: the target called a write done before it had the data");
  }
  complete(*slot, cqe);
}

void Queue::on_ready_to_transfer() {
  const auto pdu = parser_.header<ReadyToTransfer>();
  Slot* slot = find_slot(pdu.command_id);
  if (slot == nullptr || slot->direction != DataDirection::kFromHost || slot->in_capsule) {
    return refuse(TerminateReason::kInvalidField, kCommandIdAt,
                  "nvme: the target asks for data of a command that has none to send");
  }
  if (slot->due_bytes != 0) {
    return refuse(TerminateReason::kDataLimit, kCommandIdAt,
                  "nvme: the target asks for data while it is owed some");
  }
  if (pdu.data_offset != slot->asked_bytes) {
    return refuse(TerminateReason::kDataOutOfRange, kOffsetAt,
                  "nvme: the target asks for data out of order");
  }
  if (pdu.data_bytes == 0 || pdu.data_bytes > slot->data_bytes - slot->asked_bytes) {
    return refuse(TerminateReason::kDataOutOfRange, kDataBytesAt,
                  "nvme: the target asks for data beyond the command");
  }
  slot->asked_bytes += pdu.data_bytes;
  slot->due_bytes = pdu.data_bytes;
  slot->transfer_tag = pdu.transfer_tag;
  slot->state = SlotState::kSending;
  to_send_.push_back(*slot);
}

}  // namespace forebay::nvme::initiator
