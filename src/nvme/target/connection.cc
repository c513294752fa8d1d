#include "nvme/target/connection.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "core/log.h"
#include "nvme/target/connection_limits.h"

namespace forebay::nvme::target {
namespace {

// From the accept to the answer to Connect: a stranger may not hold a connection for longer.
constexpr Nanos kConnectTime = std::chrono::seconds(10);
// After a terminate request the host closes; one that does not is closed upon.
constexpr Nanos kTerminateTime = std::chrono::seconds(5);

}  // namespace

std::string_view to_string(ConnectionState state) {
  constexpr std::array<std::string_view, 6> kNames{"negotiating", "connecting", "live",
                                                   "terminating", "closing",    "closed"};
  return kNames[static_cast<std::size_t>(state)];
}

std::string_view to_string(SlotState state) {
  constexpr std::array<std::string_view, 6> kNames{"free",          "receiving", "waiting",
                                                   "awaiting data", "executing", "sending"};
  return kNames[static_cast<std::size_t>(state)];
}

Connection::Connection(LoopShare& share, Owner& owner, const Accepted& accepted)
    : share_(share),
      owner_(owner),
      socket_(accepted.socket),
      number_(accepted.number),
      mode_(accepted.mode),
      channel_{.keys = &share.tls_keys},
      stranger_memory_(share.transfer_memory.pool(), &share.transfer_memory.strangers(),
                       connection_limits(share.transfer_memory.pool().bytes_max())),
      parser_({.sender = Sender::kHost,
               .capsule_data_bytes_max = share.limits.admin_capsule_bytes_max,
               .data_bytes_max = share.limits.host_data_bytes_max}),
      input_(std::make_unique_for_overwrite<std::byte[]>(kInputBytes)),
      outgoing_(kStagingBytes) {
  handler_ = std::make_unique<UnconnectedQueue>(
      share_.subsystems, share_.loop.engine().clock(), channel_,
      [this](ConnectedQueue queue) { on_connected(std::move(queue)); });
}

Connection::~Connection() {
  FOREBAY_CHECK(!receiving_ && !sending_);
  if (controller_ != nullptr) controller_->leave_queue(queue_id_);
}

void Connection::start() {
  share_.loop.arm(timer_, share_.loop.now() + kConnectTime,
                  [this] { close("no Connect within 10 s"); });
  receive();
}

void Connection::on_connected(ConnectedQueue queue) {
  controller_ = std::move(queue.controller);
  queue_id_ = queue.queue_id;
  CommandAborter& self = *this;
  controller_->set_aborter(queue_id_, &self);
  entries_ = queue.entries;
  flow_control_ = queue.flow_control;
  queue_head_ = 1;  // Connect was its first entry
  state_ = ConnectionState::kLive;
  old_handler_ = std::move(handler_);
  if (queue_id_ == 0) {
    handler_ = std::make_unique<AdminQueue>(controller_);
    log_info("nvme {}: {} connected to {}, controller {}, keep-alive {} ms", number_,
             controller_->host().nqn, controller_->subsystem().nqn(), controller_->id(),
             controller_->keep_alive_ms());
    watch_time();
  } else {
    handler_ = std::make_unique<IoQueue>(controller_);
    PduRules rules = parser_.rules();
    rules.capsule_data_bytes_max = share_.limits.io_capsule_bytes_max;
    parser_.set_rules(rules);
    timer_.cancel();
    log_info("nvme {}: controller {} queue {}, {} entries", number_, controller_->id(), queue_id_,
             entries_);
  }
  controller_->credentials == nullptr ? take_share() : begin_authentication();
}

// Memory for data is the host's from now on; before, that of strangers.
void Connection::take_share() {
  host_memory_ = share_.transfer_memory.of(controller_->host().nqn);
  BufferPool& pool = share_.transfer_memory.pool();
  own_memory_ =
      std::make_unique<MemoryShare>(pool, host_memory_.get(), connection_limits(pool.bytes_max()));
}

void Connection::drain() {
  draining_ = true;
  if (receiving_) share_.loop.engine().cancel(receive_op_);
  close_when_drained();
}

void Connection::close_when_drained() {
  if (!draining_ || state_ >= ConnectionState::kClosing) return;
  if (sending_ || send_due_.armed()) return;
  const bool at_work = std::ranges::any_of(slots_, [](const CommandSlot& slot) {
    return slot.exchange.io.busy() || slot.state == SlotState::kSending;
  });
  if (!at_work) close(drain_why_);
}

void Connection::close(std::string_view why) {
  if (state_ >= ConnectionState::kClosing) return;
  log_info("nvme {}: closed while {}: {}", number_, to_string(state_), why);
  if (controller_ != nullptr && !admitted() && !draining_) log_refused(why);
  state_ = ConnectionState::kClosing;
  timer_.cancel();
  stall_timer_.cancel();
  send_due_.cancel();
  auth_timer_.cancel();
  if (receiving_) share_.loop.engine().cancel(receive_op_);
  if (sending_) share_.loop.engine().cancel(send_op_);
  if (controller_ != nullptr) controller_->set_aborter(queue_id_, nullptr);
  if (controller_ != nullptr && queue_id_ == 0) controller_->die();
  drop_commands();
  owner_.on_closing(*this);
  if (tls_ && !sending_) say_goodbye();
  finish_closing();
}

void Connection::finish_closing() {
  if (state_ != ConnectionState::kClosing || receiving_ || sending_) return;
  const bool busy =
      std::ranges::any_of(slots_, [](const CommandSlot& slot) { return slot.exchange.io.busy(); });
  if (busy) return;
  for (CommandSlot& slot : slots_) release_memory(slot);
  state_ = ConnectionState::kClosed;
  timer_.cancel();
  share_.loop.engine().close(socket_);
  owner_.on_closed(*this);
}

// Says why, then waits for the host to close; the refused header goes with it.
void Connection::terminate(TerminateReason reason, std::uint32_t offset) {
  log_warn("nvme {}: {}: {} at byte {}", number_, to_string(parser_.type()), to_string(reason),
           offset);
  state_ = ConnectionState::kTerminating;
  drop_commands();
  control_pdu_ =
      encode_terminate(PduType::kControllerTerminate, reason, offset, parser_.header_bytes());
  share_.loop.arm(timer_, share_.loop.now() + kTerminateTime,
                  [this] { close("terminated; the host did not close"); });
  send();
}

}  // namespace forebay::nvme::target
