// The clocks of a connection: its controller's keep-alive, and a host that does not move.
#include <algorithm>
#include <chrono>

#include "core/log.h"
#include "nvme/target/connection.h"

namespace forebay::nvme::target {

// Looks when the controller's time would be over; signs of life since then move that on.
void Connection::watch_time() {
  const Nanos expires = controller_->expires_at();
  if (expires <= share_.loop.now()) {
    close("keep-alive expired");
    return;
  }
  // A host may set a timer later on: look once a second while there is none.
  const Nanos look = std::min(expires, share_.loop.now() + std::chrono::seconds(1));
  share_.loop.arm(timer_, look, [this] { watch_time(); });
}

// What a live connection waits for from its host, with memory held meanwhile, and since when. Of a
// host that is not connected yet Connect's own time takes care.
HostWait Connection::waits_for_host() const {
  HostWait wait;
  if (state_ != ConnectionState::kLive) return wait;
  const bool data_due = awaiting_count_ != 0 || (incoming_ != nullptr && incoming_->memory.held());
  if (data_due) wait = {data_moved_at_, "it does not send the data that was asked for"};
  if (sending_ && send_moved_at_ < wait.since) {
    wait = {send_moved_at_, "it does not read its answers"};
  }
  return wait;
}

// The timer is armed once for many moves: it looks again when it fires too early.
void Connection::watch_moves() {
  if (stall_timer_.armed()) return;
  const HostWait wait = waits_for_host();
  if (wait.why == nullptr) return;
  const Nanos due = wait.since + share_.limits.stall_time;
  if (share_.loop.now() < due) {
    share_.loop.arm(stall_timer_, due, [this] { watch_moves(); });
    return;
  }
  log_warn("nvme {}: host {} has not moved for {} s: {}", number_, controller_->host().nqn,
           share_.limits.stall_time / std::chrono::seconds(1), wait.why);
  close(wait.why);
}

}  // namespace forebay::nvme::target
