#include "nvme/target/auth_gate.h"

#include <algorithm>
#include <utility>

namespace forebay::nvme::target {
namespace {

bool is_type(const Sqe& sqe, FabricsType type) {
  return sqe.opcode == kFabricsOpcode && sqe.fabrics_type() == static_cast<std::uint8_t>(type);
}

bool is_authentication(const Sqe& sqe) {
  return is_type(sqe, FabricsType::kAuthSend) || is_type(sqe, FabricsType::kAuthReceive);
}

}  // namespace

AuthGate::AuthGate(std::unique_ptr<QueueHandler> queue, auth::ControllerSide side, OnMoved on_moved)
    : queue_(std::move(queue)), side_(std::move(side)), on_moved_(std::move(on_moved)) {}

CommandStatus AuthGate::check(Exchange& exchange, std::uint32_t data_bytes) {
  if (!is_authentication(exchange.sqe)) {
    return side_.authenticated() ? queue_->check(exchange, data_bytes)
                                 : refuse(StatusCode::kAuthenticationRequired);
  }
  const auto fields = fields_of<auth::AuthFields>(exchange.sqe);
  if (!fields.known() || fields.length_bytes == 0 || fields.length_bytes > auth::kMessageBytesMax) {
    return refuse(StatusCode::kInvalidField);
  }
  return fields.length_bytes == data_bytes ? kDone : refuse(StatusCode::kSglLengthInvalid);
}

Progress AuthGate::execute(Exchange& exchange) {
  if (!is_authentication(exchange.sqe)) {
    // It may have failed while the command's data came.
    if (side_.authenticated()) return queue_->execute(exchange);
    exchange.status = refuse(StatusCode::kAuthenticationRequired);
    return Progress::kDone;
  }
  exchange.status = kDone;
  if (is_type(exchange.sqe, FabricsType::kAuthSend)) {
    side_.received(exchange.in);
  } else {
    exchange.status = give_answer(exchange);
  }
  if (exchange.status.ok()) on_moved_(side_);
  return Progress::kDone;
}

CommandStatus AuthGate::give_answer(Exchange& exchange) {
  const auto answer = side_.answer();
  if (answer.empty()) return refuse(StatusCode::kSequenceError);
  if (answer.size() > exchange.out.size()) return refuse(StatusCode::kInvalidField);
  const auto rest = std::ranges::copy(answer, exchange.out.begin()).out;
  std::fill(rest, exchange.out.end(), std::byte{0});
  side_.answered();
  return kDone;
}

}  // namespace forebay::nvme::target
