// The commands of a connection: memory for their data, and their handler.
#include <algorithm>
#include <utility>

#include "core/bytes.h"
#include "core/log.h"
#include "nvme/target/connection.h"

namespace forebay::nvme::target {

// Null: the host sent more commands than the queue has entries.
CommandSlot* Connection::take_slot() {
  // Answers of the present send may have arrived: their entries are the host's again.
  if (slots_.size() - free_slots_.size() >= entries_ + answered_.size()) return nullptr;
  if (free_slots_.empty()) {
    CommandSlot& made = slots_.emplace_back();
    made.connection = this;
    made.tag = static_cast<std::uint16_t>(slots_.size() - 1);
    return &made;
  }
  CommandSlot& slot = slots_[free_slots_.back()];
  free_slots_.pop_back();
  return &slot;
}

void Connection::begin_command() {
  CommandSlot* slot = take_slot();
  if (slot == nullptr) return terminate(TerminateReason::kDataLimit, 0);
  slot->state = SlotState::kReceiving;
  slot->exchange = Exchange{};
  slot->exchange.sqe = parser_.header<CommandCapsule>().sqe;
  slot->exchange.context = slot;
  slot->exchange.on_done = [](Exchange& done) {
    auto& finished = *static_cast<CommandSlot*>(done.context);
    finished.connection->on_executed(finished);
  };
  slot->received_bytes = 0;
  slot->ready_due = false;
  slot->intact = true;
  slot->use = check_sgl(slot->exchange.sqe, parser_.data_bytes(), share_.limits.transfer_bytes_max);
  CommandStatus status = slot->use.status;
  if (status.ok()) status = handler_->check(slot->exchange, slot->use.data_bytes);
  slot->exchange.status = status;
  // A stranger on a queue keeps no controller alive.
  if (admitted() || (controller_ != nullptr && queue_id_ == 0)) {
    controller_->note_life(share_.loop.now());
  }
  queue_head_ = static_cast<std::uint16_t>((queue_head_ + 1) % entries_);
  incoming_ = slot;
  // Data of a refused command is read and dropped.
  if (parser_.data_bytes() != 0 && status.ok()) want_memory(*slot);
}

void Connection::end_command() {
  if (incoming_ == nullptr) return;
  CommandSlot& slot = *std::exchange(incoming_, nullptr);
  slot.intact = parser_.data_intact();
  const bool refused = !slot.exchange.status.ok();
  if (refused) {
    on_executed(slot);
  } else if (slot.use.data_bytes == 0 || slot.use.in_capsule) {
    have_all_data(slot);
  } else {
    want_memory(slot);
  }
}

void Connection::want_memory(CommandSlot& slot) {
  slot.wait.bytes = round_up(slot.use.data_bytes, kIoAlignBytes) + slot.exchange.scratch_bytes;
  slot.wait.context = &slot;
  slot.wait.on_ready = [](BufferPool::Waiter& waiter, BufferPool::Lease lease) {
    auto& waiting = *static_cast<CommandSlot*>(waiter.context);
    waiting.connection->on_memory(waiting, std::move(lease));
  };
  slot.state = SlotState::kWaiting;
  if (slot.use.in_capsule) {
    paused_ = true;
    slot.wait.first = false;
    share_.capsule_memory.take(slot.wait);
  } else {
    slot.charged_to = own_memory_ ? own_memory_.get() : &stranger_memory_;
    slot.wait.first = slot.charged_to->empty();
    slot.charged_to->take(slot.wait);
  }
}

void Connection::on_memory(CommandSlot& slot, BufferPool::Lease lease) {
  slot.memory = std::move(lease);
  if (state_ >= ConnectionState::kTerminating) return release(slot);
  if (slot.use.in_capsule) {
    slot.state = SlotState::kReceiving;
    paused_ = false;
    data_moved_at_ = share_.loop.now();
    watch_moves();
    if (rest_.data() == nullptr) return;  // it came at once: feed() goes on by itself
    const auto rest = std::exchange(rest_, {});
    feed(rest);
    receive();
  } else if (slot.use.direction == DataDirection::kFromHost) {
    slot.state = SlotState::kAwaitingData;
    slot.ready_due = true;
    to_send_.push_back(slot);
    send();
  } else {
    execute(slot);
  }
}

void Connection::have_all_data(CommandSlot& slot) {
  if (!slot.intact) {
    slot.exchange.status = retry_later(StatusCode::kTransientTransport);
    on_executed(slot);
    return;
  }
  execute(slot);
}

void Connection::execute(CommandSlot& slot) {
  slot.state = SlotState::kExecuting;
  const bool to_host = slot.use.direction == DataDirection::kToHost;
  (to_host ? slot.exchange.out : slot.exchange.in) = slot.data();
  if (slot.exchange.scratch_bytes != 0) {
    slot.exchange.scratch = slot.memory.bytes().subspan(
        round_up(slot.use.data_bytes, kIoAlignBytes), slot.exchange.scratch_bytes);
  }
  if (handler_->execute(slot.exchange) == Progress::kDone) on_executed(slot);
  old_handler_.reset();
}

void Connection::on_executed(CommandSlot& slot) {
  if (state_ >= ConnectionState::kTerminating) {
    release(slot);
    finish_closing();
    return;
  }
  if (slot.use.direction != DataDirection::kToHost || !slot.exchange.status.ok()) {
    release_memory(slot);
  }
  slot.state = SlotState::kSending;
  slot.ready_due = false;
  to_send_.push_back(slot);
  send();
}

void Connection::release_memory(CommandSlot& slot) {
  if (!slot.memory.held()) return;
  slot.memory.reset();
  if (MemoryShare* share = std::exchange(slot.charged_to, nullptr)) {
    share->give_back(slot.wait.bytes);
  }
}

void Connection::release(CommandSlot& slot) {
  slot.state = SlotState::kFree;
  free_slots_.push_back(slot.tag);
  release_memory(slot);
}

void Connection::forget_memory(CommandSlot& slot) {
  slot.state = SlotState::kFree;
  if (MemoryShare* share = std::exchange(slot.charged_to, nullptr)) {
    share->forget(slot.wait);
  } else {
    share_.capsule_memory.forget(slot.wait);
  }
}

// Begun is what the device has, and what the host was asked to send data for: that may be on its
// way.
bool Connection::abort_command(std::uint16_t command_id) {
  if (state_ != ConnectionState::kLive) return false;
  const auto found = std::ranges::find_if(slots_, [command_id](const CommandSlot& slot) {
    const bool waits = slot.state == SlotState::kWaiting && !slot.use.in_capsule;
    const bool not_asked = slot.state == SlotState::kAwaitingData && slot.ready_due;
    return slot.exchange.sqe.command_id == command_id && (waits || not_asked);
  });
  if (found == slots_.end()) return false;
  if (found->state == SlotState::kWaiting) {
    forget_memory(*found);
  } else {
    to_send_.remove(*found);
  }
  found->exchange.status = retry_later(StatusCode::kAbortRequested);
  on_executed(*found);
  return true;
}

// The connection is over: everything goes but what a device or the kernel still works on.
void Connection::drop_commands() {
  while (!to_send_.empty()) (void)to_send_.pop_front();
  paused_ = false;
  rest_ = {};
  incoming_ = nullptr;
  for (CommandSlot& slot : slots_) {
    if (slot.state == SlotState::kWaiting) forget_memory(slot);
    const bool held = slot.state == SlotState::kExecuting && !slot.exchange.io.busy();
    if (held) handler_->drop(slot.exchange);
  }
}

}  // namespace forebay::nvme::target
