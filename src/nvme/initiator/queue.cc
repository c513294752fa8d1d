#include "nvme/initiator/queue.h"

#include <algorithm>
#include <utility>

#include "core/check.h"
#include "nvme/initiator/queue_limits.h"
#include "nvme/initiator/status_error.h"

namespace forebay::nvme::initiator {
namespace {

constexpr std::uint32_t kAnyDataBytes = 0xFFFFFFFF;  // each command's own length is the limit

}  // namespace

std::string_view to_string(QueueState state) {
  constexpr std::array<std::string_view, 7> kNames{
      "idle", "negotiating", "connecting", "authenticating", "ready", "ending", "ended"};
  return kNames[static_cast<std::size_t>(state)];
}

std::string_view to_string(SlotState state) {
  constexpr std::array<std::string_view, 5> kNames{"free", "queued", "awaiting", "sending",
                                                   "answered"};
  return kNames[static_cast<std::size_t>(state)];
}

Queue::Queue(const QueueOptions& options)
    : options_(options),
      slots_(static_cast<std::size_t>(options.entries) - 1),
      parser_({.sender = Sender::kController, .data_bytes_max = kAnyDataBytes}),
      input_(std::make_unique_for_overwrite<std::byte[]>(kInputBytes)),
      outgoing_(kStagingBytes) {
  FOREBAY_CHECK(options.entries >= 2 && options.entries <= kEntriesMax);
  options_.capsule_data_bytes_max = std::min(options_.capsule_data_bytes_max, kCapsuleDataBytesMax);
  for (std::size_t i = slots_.size(); i-- > 0;) {
    slots_[i].index = static_cast<std::uint16_t>(i);
    free_slots_.push_back(slots_[i].index);
  }
}

Queue::~Queue() { FOREBAY_CHECK(state_ == QueueState::kIdle || state_ == QueueState::kEnded); }

void Queue::start() {
  FOREBAY_CHECK(state_ == QueueState::kIdle);
  state_ = QueueState::kNegotiating;
  // One R2T at a time for a command, data of C2HData at multiples of 4 bytes.
  control_pdu_ = encode_ic_request({.digests = bits_of(options_.digests)});
}

void Queue::send_connect() {
  state_ = QueueState::kConnecting;
  connect_data_.host_id = options_.host.id;
  connect_data_.controller_id = options_.controller_id;
  const auto copy = [](const std::string& name, std::array<char, kNqnBytes>& field) {
    std::copy_n(name.begin(), std::min(name.size(), field.size() - 1), field.begin());
  };
  copy(options_.subsystem_nqn, connect_data_.subsystem_nqn);
  copy(options_.host.nqn, connect_data_.host_nqn);
  connect_piece_ = {&connect_data_, sizeof connect_data_};
  connect_.sqe.opcode = kFabricsOpcode;
  connect_.sqe.namespace_id = static_cast<std::uint32_t>(FabricsType::kConnect);
  set_fields(connect_.sqe,
             ConnectFields{.queue_id = options_.queue_id,
                           .queue_size = static_cast<std::uint16_t>(options_.entries - 1),
                           .attributes = kConnectNoFlowControl,
                           .keep_alive_ms = options_.keep_alive_ms});
  connect_.direction = DataDirection::kFromHost;
  connect_.data_bytes = sizeof connect_data_;
  connect_.pieces = {&connect_piece_, 1};
  connect_.context = this;
  connect_.on_done = [](QueueCommand& command) {
    static_cast<Queue*>(command.context)->on_connected();
  };
  Slot& slot = take_slot(connect_);
  slot.in_capsule = true;  // every queue takes Connect's data so
}

void Queue::on_connected() {
  if (state_ != QueueState::kConnecting) return;  // it ended meanwhile, and says why
  if (!connect_.result) return end(connect_.result.error());
  const bool asked = (*connect_.result & kAuthenticationRequired) != 0;
  if ((*connect_.result & kSecureChannelRequired) != 0) {
    return end({Errc::kDenied, "nvme connect: the target wants authentication and TLS"});
  }
  if (asked && options_.credentials == nullptr) {
    return end({Errc::kDenied, "nvme connect: the target wants authentication, and a key"});
  }
  if (!asked && options_.credentials != nullptr && options_.credentials->controller_key) {
    return end({Errc::kDenied, "nvme connect: the target does not authenticate itself"});
  }
  controller_id_ = static_cast<std::uint16_t>(*connect_.result & 0xFFFF);
  state_ = asked ? QueueState::kAuthenticating : QueueState::kReady;
  if (asked) begin_authentication();
}

void Queue::submit(QueueCommand& command) {
  FOREBAY_CHECK(can_submit());
  enqueue(command);
}

void Queue::enqueue(QueueCommand& command) {
  Slot& slot = take_slot(command);
  slot.in_capsule = slot.direction == DataDirection::kFromHost &&
                    slot.data_bytes <= options_.capsule_data_bytes_max;
}

Slot& Queue::take_slot(QueueCommand& command) {
  Slot& slot = slots_[free_slots_.back()];
  free_slots_.pop_back();
  slot = Slot{.index = slot.index,
              .generation = slot.generation,
              .state = SlotState::kQueued,
              .command = &command,
              .direction = command.direction,
              .data_bytes = command.data_bytes,
              .cursor = ScatterCursor(command.pieces)};
  command.slot = slot.index;
  command.sent = false;
  command.overdue = false;
  to_send_.push_back(slot);
  return slot;
}

std::uint16_t Queue::command_id(const Slot& slot) {
  return static_cast<std::uint16_t>((slot.generation << kSlotBits) | slot.index);
}

Slot* Queue::find_slot(std::uint16_t id) {
  const std::size_t index = id & (kEntriesMax - 1);
  if (index >= slots_.size()) return nullptr;
  Slot& slot = slots_[index];
  const bool sent = slot.state == SlotState::kAwaiting || slot.state == SlotState::kSending;
  return sent && command_id(slot) == id ? &slot : nullptr;
}

void Queue::complete(Slot& slot, const Cqe& cqe) {
  if (slot.state == SlotState::kSending) to_send_.remove(slot);
  slot.cqe = cqe;
  slot.state = SlotState::kAnswered;
  if (!slot.in_batch) finish(slot);
}

void Queue::finish(Slot& slot) {
  QueueCommand* command = std::exchange(slot.command, nullptr);
  const auto status = CommandStatus::from_wire(slot.cqe.status);
  Result<std::uint64_t> result = slot.cqe.result;
  if (!status.ok()) result = std::unexpected(error_of(status));
  if (status.ok() && slot.damaged) {
    result = fail(Errc::kIo, "nvme: the data digest of a read does not fit");
  }
  release(slot);
  if (command == nullptr) return;
  command->status = status;
  return_command(*command, result);
}

void Queue::return_command(QueueCommand& command, const Result<std::uint64_t>& result) {
  command.result = result;
  command.on_done(command);
}

void Queue::release(Slot& slot) {
  slot.state = SlotState::kFree;
  slot.command = nullptr;
  slot.generation = static_cast<std::uint16_t>((slot.generation + 1) & (0xFFFF >> kSlotBits));
  free_slots_.push_back(slot.index);
}

void Queue::abandon(QueueCommand& command, const Error& error) {
  Slot& slot = slots_[command.slot];
  if (slot.command != &command || slot.in_batch || state_ >= QueueState::kEnding) return;
  if (slot.state == SlotState::kQueued) {
    to_send_.remove(slot);
    release(slot);
    return return_command(command, std::unexpected(error));
  }
  if (slot.direction == DataDirection::kFromHost) return;
  if (incoming_ == &slot) {
    slot.abandoned = error;
    return;
  }
  slot.command = nullptr;
  return_command(command, std::unexpected(error));
}

std::uint32_t Queue::tick(std::uint32_t due) {
  std::uint32_t longest = 0;
  for (Slot& slot : slots_) {
    if (slot.state == SlotState::kFree) continue;
    if (slot.command != nullptr && slot.command->untimed) continue;
    longest = std::max(longest, ++slot.ticks);
    if (slot.command != nullptr) slot.command->overdue = slot.ticks > due;
  }
  return longest;
}

std::vector<std::uint16_t> Queue::waiting_for(std::uint32_t ticks) const {
  std::vector<std::uint16_t> ids;
  for (const Slot& slot : slots_) {
    const bool sent = slot.state == SlotState::kAwaiting || slot.state == SlotState::kSending;
    if (sent && slot.ticks == ticks) ids.push_back(command_id(slot));
  }
  return ids;
}

void Queue::close(const Error& error) {
  end(error);
  control_pdu_.reset();
  if (!sending_) outgoing_.clear();
  finish_ending();
}

void Queue::end(const Error& error) {
  if (state_ >= QueueState::kEnding) return;
  end_error_ = error;
  state_ = QueueState::kEnding;
}

// The kernel may write to a read's memory while it receives, and read a write's while it sends.
void Queue::finish_ending() {
  if (state_ != QueueState::kEnding || receiving_ || sending_ || control_pdu_) return;
  if (!outgoing_.rest().empty() && batch_.empty()) return;  // a terminate request, in part
  state_ = QueueState::kEnded;
  while (!to_send_.empty()) to_send_.pop_front();
  for (Slot& slot : slots_) {
    QueueCommand* command = std::exchange(slot.command, nullptr);
    slot.state = SlotState::kFree;
    if (command != nullptr) return_command(*command, std::unexpected(end_error_));
  }
}

}  // namespace forebay::nvme::initiator
