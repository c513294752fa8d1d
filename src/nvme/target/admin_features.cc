// Set Features and Get Features (Base Specification 2.0, 5.27 and 5.15): a row a feature.
#include <algorithm>
#include <array>

#include "nvme/target/admin.h"

namespace forebay::nvme::target {
namespace {

constexpr std::uint32_t kSave = 1U << 31;  // SV: nothing is kept over a restart

CommandStatus get_write_cache(Controller&, Exchange& exchange) {
  exchange.result = 1;  // on, for as long as the host does not flush
  return kDone;
}

std::uint64_t queue_counts(std::uint16_t granted) {  // both from 0
  const std::uint64_t from_zero = granted - 1U;
  return from_zero | (from_zero << 16);
}

CommandStatus set_queue_count(Controller& controller, Exchange& exchange) {
  const std::uint32_t submission = exchange.sqe.dword(11) & 0xFFFF;
  const std::uint32_t completion = exchange.sqe.dword(11) >> 16;
  if (submission == 0xFFFF || completion == 0xFFFF) return refuse(StatusCode::kInvalidField);
  const auto asked = static_cast<std::uint16_t>(std::min(submission, completion) + 1);
  exchange.result = queue_counts(controller.grant_queues(asked));
  return kDone;
}

CommandStatus get_queue_count(Controller& controller, Exchange& exchange) {
  exchange.result = queue_counts(controller.subsystem().limits().io_queues_max);
  return kDone;
}

CommandStatus set_async_events(Controller& controller, Exchange& exchange) {
  controller.async_events = exchange.sqe.dword(11);
  return kDone;
}

CommandStatus get_async_events(Controller& controller, Exchange& exchange) {
  exchange.result = controller.async_events;
  return kDone;
}

CommandStatus set_keep_alive(Controller& controller, Exchange& exchange) {
  controller.set_keep_alive(exchange.sqe.dword(11));
  return kDone;
}

CommandStatus get_keep_alive(Controller& controller, Exchange& exchange) {
  exchange.result = controller.keep_alive_ms();
  return kDone;
}

CommandStatus not_changeable(Controller&, Exchange&) {
  return refuse(StatusCode::kFeatureNotChangeable);
}

CommandStatus get_host_id(Controller& controller, Exchange& exchange) {
  const auto& id = controller.host().id;
  if (exchange.out.size() < id.size()) return refuse(StatusCode::kSglLengthInvalid);
  std::ranges::copy(id, exchange.out.begin());
  return kDone;
}

struct Feature {
  FeatureId id;
  bool discovery;
  CommandStatus (*set)(Controller& controller, Exchange& exchange);
  CommandStatus (*get)(Controller& controller, Exchange& exchange);
};
constexpr std::array<Feature, 5> kFeatures{{
    {FeatureId::kVolatileWriteCache, false, not_changeable, get_write_cache},
    {FeatureId::kQueueCount, false, set_queue_count, get_queue_count},
    {FeatureId::kAsyncEvents, true, set_async_events, get_async_events},
    {FeatureId::kKeepAliveTimer, true, set_keep_alive, get_keep_alive},
    {FeatureId::kHostId, false, not_changeable, get_host_id},
}};

const Feature* find_feature(const Controller& controller, const Exchange& exchange) {
  const auto id = static_cast<FeatureId>(exchange.sqe.dword(10) & 0xFF);
  const auto found = std::ranges::find_if(kFeatures, [&](const Feature& known) {
    return known.id == id && (known.discovery || !controller.discovery());
  });
  return found == kFeatures.end() ? nullptr : &*found;
}

}  // namespace

Progress run_set_features(Controller& controller, Exchange& exchange) {
  const Feature* feature = find_feature(controller, exchange);
  if (feature == nullptr) return end_with(exchange, refuse(StatusCode::kInvalidField));
  if ((exchange.sqe.dword(10) & kSave) != 0) {
    return end_with(exchange, refuse(StatusCode::kFeatureNotSaveable));
  }
  return end_with(exchange, feature->set(controller, exchange));
}

Progress run_get_features(Controller& controller, Exchange& exchange) {
  const Feature* feature = find_feature(controller, exchange);
  const std::uint32_t select = (exchange.sqe.dword(10) >> 8) & 7;
  // Only the current value: there is no other.
  if (feature == nullptr || select != 0) {
    return end_with(exchange, refuse(StatusCode::kInvalidField));
  }
  return end_with(exchange, feature->get(controller, exchange));
}

}  // namespace forebay::nvme::target
