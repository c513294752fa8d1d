#include "nvme/target/queues.h"

#include <algorithm>
#include <utility>

#include "core/bytes.h"
#include "core/log.h"
#include "nvme/target/admin.h"
#include "nvme/target/reservation_commands.h"

namespace forebay::nvme::target {
namespace {

bool is_connect(const Sqe& sqe) {
  return sqe.opcode == kFabricsOpcode &&
         sqe.fabrics_type() == static_cast<std::uint8_t>(FabricsType::kConnect);
}

// The names are claims of whoever connected; the log makes them printable.
void log_refusal(std::span<const std::byte> connect_data, const ConnectRefusal& refusal) {
  const auto asked = load_as<ConnectData>(connect_data);
  const std::string host = name_of(asked.host_nqn);
  const std::string subsystem = name_of(asked.subsystem_nqn);
  if (refusal.why != nullptr) {
    log_warn("nvme: refused: host {} at {}: {}", host, subsystem, refusal.why);
  } else {
    log_warn("nvme: refused: host {} at {}: {} (field {:#x})", host, subsystem,
             to_string(refusal.status.code), refusal.result);
  }
}

}  // namespace

CommandStatus UnconnectedQueue::check(Exchange& exchange, std::uint32_t data_bytes) {
  if (!is_connect(exchange.sqe)) return refuse(StatusCode::kSequenceError);
  return data_bytes == sizeof(ConnectData) ? kDone : refuse(StatusCode::kSglLengthInvalid);
}

Progress UnconnectedQueue::execute(Exchange& exchange) {
  auto queue = connect_queue(
      subsystems_,
      {.sqe = exchange.sqe, .data = exchange.in, .now = clock_.now(), .channel = channel_});
  if (!queue) {
    log_refusal(exchange.in, queue.error());
    exchange.status = queue.error().status;
    exchange.result = queue.error().result;
    return Progress::kDone;
  }
  exchange.status = kDone;
  exchange.result = queue->controller->id();
  if (queue->controller->credentials != nullptr) exchange.result |= kAuthenticationRequired;
  on_connected_(std::move(*queue));
  return Progress::kDone;
}

CommandStatus AdminQueue::check(Exchange&, std::uint32_t) { return kDone; }

Progress AdminQueue::execute(Exchange& exchange) {
  // What a handler does not fill must not show what another command left there.
  std::ranges::fill(exchange.out, std::byte{0});
  return exchange.sqe.opcode == kFabricsOpcode ? run_fabrics(*controller_, exchange)
                                               : run_admin(*controller_, exchange);
}

CommandStatus IoQueue::check(Exchange& exchange, std::uint32_t data_bytes) {
  if (exchange.sqe.opcode == kFabricsOpcode) {
    return refuse(is_connect(exchange.sqe) ? StatusCode::kSequenceError
                                           : StatusCode::kInvalidOpcode);
  }
  if (controller_->state() != ControllerState::kReady) return refuse(StatusCode::kSequenceError);
  const Subsystem& subsystem = controller_->subsystem();
  Namespace* found = controller_->find_namespace(exchange.sqe.namespace_id);
  if (found == nullptr) return refuse(StatusCode::kInvalidNamespace);
  exchange.on = found;
  if (const auto* command = find_reservation_command(exchange.sqe.opcode)) {
    return check_reservation(*command, *controller_, exchange.sqe, data_bytes);
  }
  const auto plan =
      plan_io(exchange.sqe, {.block_bytes = found->block_bytes(),
                             .block_count = found->block_count(),
                             .command_bytes_max = subsystem.limits().transfer_bytes_max,
                             .read_only = found->read_only()});
  if (!plan) return plan.error();
  if (plan->data_bytes != data_bytes) return refuse(StatusCode::kSglLengthInvalid);
  exchange.io.plan = *plan;
  exchange.io.device = found->device;
  if (plan->kind == IoKind::kCompare) exchange.scratch_bytes = data_bytes;
  return admits(exchange) ? kDone : refuse(StatusCode::kReservationConflict);
}

bool IoQueue::admits(const Exchange& exchange) const {
  return exchange.on->reservations->admits(controller_->host().id,
                                           is_write_group(exchange.io.plan.kind));
}

Progress IoQueue::execute(Exchange& exchange) {
  // The namespace may have gone, or got another device, while the command's data came.
  const block::Device* planned = exchange.io.device;
  exchange.on = controller_->find_namespace(exchange.sqe.namespace_id);
  if (exchange.on == nullptr || (planned != nullptr && exchange.on->device != planned)) {
    exchange.status = refuse(StatusCode::kInvalidNamespace);
    return Progress::kDone;
  }
  if (const auto* command = find_reservation_command(exchange.sqe.opcode)) {
    exchange.status = command->run(*controller_, *exchange.on, exchange);
    return Progress::kDone;
  }
  // The reservation may have changed while the command's data came.
  if (!admits(exchange)) {
    exchange.status = refuse(StatusCode::kReservationConflict);
    return Progress::kDone;
  }
  count(exchange.io.plan);
  exchange.io.start(exchange);
  return Progress::kLater;
}

void IoQueue::count(const IoPlan& plan) {
  IoTotals& totals = controller_->totals;
  if (plan.kind == IoKind::kRead || plan.kind == IoKind::kCompare) {
    ++totals.read_commands;
    totals.read_bytes += plan.length_bytes;
  } else if (plan.kind == IoKind::kWrite) {
    ++totals.write_commands;
    totals.write_bytes += plan.length_bytes;
  }
}

}  // namespace forebay::nvme::target
