// The authentication of a connection's host: how long it may take, what its end means, and the
// lines of the log by which an administrator sees who was let in and who was not.
#include <chrono>
#include <memory>
#include <utility>

#include "core/log.h"
#include "nvme/target/auth_gate.h"
#include "nvme/target/connection.h"

namespace forebay::nvme::target {
namespace {

// From Connect on: a host may be slow at large groups, a stranger may not stay.
constexpr Nanos kAuthTime = std::chrono::seconds(30);
// For a host that failed to fetch the message that says so.
constexpr Nanos kFetchTime = std::chrono::seconds(5);

}  // namespace

void Connection::begin_authentication() {
  auth::ControllerSide side(controller_->credentials,
                            {controller_->host().nqn, controller_->subsystem().nqn()});
  handler_ = std::make_unique<AuthGate>(
      std::move(handler_), std::move(side),
      [this](const auth::ControllerSide& moved) { on_authentication(moved); });
  share_.loop.arm(auth_timer_, share_.loop.now() + kAuthTime,
                  [this] { close("it did not prove itself in 30 s"); });
}

// Told once, by what comes first: a failure, or the connection's end before it began.
void Connection::log_refused(std::string_view why) {
  if (std::exchange(refusal_told_, true)) return;
  log_warn("nvme {}: refused: host {} from {}, controller {} queue {}: authentication: {}", number_,
           controller_->host().nqn, share_.loop.engine().peer_name(socket_), controller_->id(),
           queue_id_, why);
}

void Connection::on_authentication(const auth::ControllerSide& side) {
  if (side.state() == auth::ControllerState::kDone) {
    auth_timer_.cancel();
    if (!admitted()) take_share();
    log_info("nvme {}: authenticated: host {} from {}, controller {} queue {} ({}, {})", number_,
             controller_->host().nqn, share_.loop.engine().peer_name(socket_), controller_->id(),
             queue_id_, auth::to_string(side.hash()), auth::to_string(side.group()));
    return;
  }
  const bool failed = side.state() == auth::ControllerState::kFailed;
  if (side.state() != auth::ControllerState::kFailure1 && !failed) return;
  log_refused(side.why());
  if (failed) {
    // What is answered is sent first, the message that says why with it.
    draining_ = true;
    drain_why_ = "its host is not authenticated";
  }
  share_.loop.arm(auth_timer_, share_.loop.now() + kFetchTime,
                  [this] { close("its host is not authenticated"); });
}

}  // namespace forebay::nvme::target
