#include "nvme/initiator/queue_auth.h"

#include <algorithm>
#include <utility>

#include "nvme/initiator/queue.h"

namespace forebay::nvme::initiator {

void QueueAuth::prepare() {
  const bool sends = side.sends();
  const std::size_t size = sends ? side.message().size() : buffer.size();
  if (sends) std::ranges::copy(side.message(), buffer.begin());
  piece = {buffer.data(), size};
  command.sqe = {};
  command.sqe.opcode = kFabricsOpcode;
  command.sqe.namespace_id =
      static_cast<std::uint32_t>(sends ? FabricsType::kAuthSend : FabricsType::kAuthReceive);
  set_fields(command.sqe, auth::AuthFields{.length_bytes = static_cast<std::uint32_t>(size)});
  command.direction = sends ? DataDirection::kFromHost : DataDirection::kToHost;
  command.data_bytes = static_cast<std::uint32_t>(size);
  command.pieces = {&piece, 1};
}

void QueueAuth::take() {
  if (side.sends()) {
    side.sent();
  } else {
    side.received(buffer);
  }
}

void Queue::begin_authentication() {
  const auth::Parties parties{options_.host.nqn, options_.subsystem_nqn};
  auth_ = std::make_unique<QueueAuth>(
      QueueAuth{.side = auth::HostSide(options_.credentials, parties, ++transaction_)});
  auth_->command.context = this;
  auth_->command.on_done = [](QueueCommand& command) {
    static_cast<Queue*>(command.context)->on_auth_answer();
  };
  continue_authentication();
}

void Queue::continue_authentication() {
  if (auth_->side.state() == auth::HostState::kFailed) return end(auth_->side.failure());
  if (auth_->side.state() == auth::HostState::kDone) {
    if (state_ == QueueState::kAuthenticating) state_ = QueueState::kReady;
    return;
  }
  auth_->prepare();
  enqueue(auth_->command);
}

void Queue::on_auth_answer() {
  if (state_ >= QueueState::kEnding) return;  // it says why
  if (!auth_->command.result) return end(auth_->command.result.error());
  auth_->take();
  continue_authentication();
}

bool Queue::reauthenticate() {
  if (!can_submit() || options_.credentials == nullptr || (auth_ && !auth_->over())) return false;
  begin_authentication();
  return true;
}

}  // namespace forebay::nvme::initiator
