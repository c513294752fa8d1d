#include "nvme/target/queues.h"

#include <algorithm>
#include <utility>

#include "nvme/target/admin.h"

namespace forebay::nvme::target {
namespace {

bool is_connect(const Sqe& sqe) {
  return sqe.opcode == kFabricsOpcode &&
         sqe.fabrics_type() == static_cast<std::uint8_t>(FabricsType::kConnect);
}

}  // namespace

CommandStatus UnconnectedQueue::check(Exchange& exchange, std::uint32_t data_bytes) {
  if (!is_connect(exchange.sqe)) return refuse(StatusCode::kSequenceError);
  return data_bytes == sizeof(ConnectData) ? kDone : refuse(StatusCode::kSglLengthInvalid);
}

Progress UnconnectedQueue::execute(Exchange& exchange) {
  auto queue = connect_queue(subsystems_, exchange.sqe, exchange.in, clock_.now());
  if (!queue) {
    exchange.status = queue.error().status;
    exchange.result = queue.error().result;
    return Progress::kDone;
  }
  exchange.status = kDone;
  exchange.result = queue->controller->id();
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
  Subsystem& subsystem = controller_->subsystem();
  Namespace* found = subsystem.find_namespace(exchange.sqe.namespace_id);
  if (found == nullptr) return refuse(StatusCode::kInvalidNamespace);
  const auto plan =
      plan_io(exchange.sqe, {.block_bytes = found->block_bytes(),
                             .block_count = found->block_count(),
                             .command_bytes_max = subsystem.limits().transfer_bytes_max,
                             .read_only = found->device->geometry().read_only});
  if (!plan) return plan.error();
  if (plan->data_bytes != data_bytes) return refuse(StatusCode::kSglLengthInvalid);
  exchange.io.plan = *plan;
  exchange.io.device = found->device;
  if (plan->kind == IoKind::kCompare) exchange.scratch_bytes = data_bytes;
  return kDone;
}

Progress IoQueue::execute(Exchange& exchange) {
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
