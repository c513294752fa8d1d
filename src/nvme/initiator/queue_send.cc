// The sending half of a queue: capsules and data are gathered into one send after another.
#include <algorithm>

#include "core/bytes.h"
#include "core/check.h"
#include "core/crc32c.h"
#include "nvme/initiator/queue.h"
#include "nvme/initiator/queue_limits.h"

namespace forebay::nvme::initiator {

std::span<const iovec> Queue::next_send() {
  if (sending_ || state_ == QueueState::kIdle || state_ == QueueState::kEnded) return {};
  if (outgoing_.rest().empty()) fill_batch();
  const auto pieces = outgoing_.rest();
  sending_ = !pieces.empty();
  return pieces;
}

void Queue::sent(std::size_t size) {
  sending_ = false;
  if (outgoing_.advance(size)) on_batch_sent();
  finish_ending();
}

void Queue::send_failed(const Error& error) {
  sending_ = false;
  outgoing_.clear();
  close(error);
}

void Queue::on_batch_sent() {
  std::vector<Slot*> batch;
  batch.swap(batch_);
  for (Slot* slot : batch) slot->in_batch = false;
  for (Slot* slot : batch) {
    if (slot->state == SlotState::kAnswered && !slot->in_batch) finish(*slot);
  }
  batch.clear();
  if (batch_.empty()) batch_.swap(batch);  // keeps the memory
}

void Queue::fill_batch() {
  outgoing_.clear();
  if (control_pdu_) {
    outgoing_.stage(control_pdu_->bytes());
    control_pdu_.reset();
  }
  if (state_ >= QueueState::kEnding) return;
  std::size_t count = 0;
  while (!to_send_.empty() && count < kBatchBytesMax &&
         outgoing_.staging_left() >= kStagedPduBytesMax &&
         outgoing_.piece_count() + kPduPiecesMax + 3 <= kBatchPiecesMax) {
    Slot& slot = to_send_.pop_front();
    mark_in_batch(slot);
    const std::size_t due = slot.in_capsule ? slot.data_bytes : slot.due_bytes;
    count += std::min<std::size_t>(due, kHostDataBytesMax);
    if (slot.state == SlotState::kQueued) {
      append_command(slot);
    } else {
      append_host_data(slot);
    }
  }
}

void Queue::mark_in_batch(Slot& slot) {
  if (slot.in_batch) return;
  slot.in_batch = true;
  batch_.push_back(&slot);
}

void Queue::append_command(Slot& slot) {
  Sqe sqe = slot.command->sqe;
  sqe.command_id = command_id(slot);
  sqe.flags = kFlagsSgl;
  sqe.sgl = {.length_bytes = slot.data_bytes,
             .type = slot.in_capsule ? kSglInCapsule : kSglTransport};
  const std::uint32_t size = slot.in_capsule ? slot.data_bytes : 0;
  outgoing_.stage(encode_command(sqe, size, format_).bytes());
  if (size != 0) {
    FOREBAY_CHECK_LE(size, gather(slot, size));  // check_request() bounds the pieces
    append_gathered();
  }
  slot.state = SlotState::kAwaiting;
  slot.command->sent = true;
}

void Queue::append_host_data(Slot& slot) {
  const std::uint32_t offset = slot.asked_bytes - slot.due_bytes;
  const std::uint32_t size = gather(slot, std::min(slot.due_bytes, host_data_bytes_max_));
  slot.due_bytes -= size;
  const DataPdu pdu{.command_id = command_id(slot),
                    .transfer_tag = slot.transfer_tag,
                    .data_offset = offset,
                    .data_bytes = size};
  const std::uint8_t flags = slot.due_bytes == 0 ? kFlagLast : 0;
  outgoing_.stage(encode_data(PduType::kHostData, flags, pdu, format_).bytes());
  append_gathered();
  if (slot.due_bytes == 0) {
    slot.state = SlotState::kAwaiting;
  } else {
    to_send_.push_back(slot);
  }
}

// The next `bytes` of its memory, or as much as one PDU's pieces hold.
std::uint32_t Queue::gather(Slot& slot, std::uint32_t bytes) {
  gathered_.clear();
  std::uint32_t size = 0;
  while (size < bytes && gathered_.size() < kPduPiecesMax) {
    const auto piece = slot.cursor.take(bytes - size);
    FOREBAY_CHECK(!piece.empty());
    gathered_.push_back({piece.data(), piece.size()});
    size += static_cast<std::uint32_t>(piece.size());
  }
  return size;
}

void Queue::append_gathered() {
  for (const iovec& piece : gathered_) outgoing_.append(piece);
  if (!format_.digests.data) return;
  std::uint32_t digest = 0;
  for (const iovec& piece : gathered_) {
    digest = crc32c({static_cast<const std::byte*>(piece.iov_base), piece.iov_len}, digest);
  }
  outgoing_.stage(bytes_of(digest));
}

}  // namespace forebay::nvme::initiator
