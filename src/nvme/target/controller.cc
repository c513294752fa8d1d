#include "nvme/target/controller.h"

#include <algorithm>

#include "core/bytes.h"

namespace forebay::nvme::target {
namespace {

// Fields of CC (Base Specification 2.0, 3.1.3.5).
constexpr std::uint32_t kEnable = 1;
constexpr std::uint32_t kSettingsMask = 0x00FF3FF0;  // CSS, MPS, AMS, IOSQES, IOCQES
// NVM commands, 4 KiB pages, round robin, 64-byte commands and 16-byte completions.
constexpr std::uint32_t kSettings = 0x00460000;
constexpr std::uint32_t kShutdownMask = 0x0000C000;

// Fields of CSTS (3.1.3.6).
constexpr std::uint32_t kStatusReady = 1;
constexpr std::uint32_t kStatusFatal = 2;
constexpr std::uint32_t kStatusShutdownDone = 2U << 2;

constexpr std::uint32_t kVersion14 = 0x00010400;
constexpr std::uint32_t kReadyTimeoutHalfSeconds = 30;

std::uint64_t capabilities(const TargetLimits& limits) {
  return (limits.queue_size_max - 1U)                       // MQES
         | (1ULL << 16)                                     // CQR
         | (std::uint64_t{kReadyTimeoutHalfSeconds} << 24)  // TO
         | (1ULL << 37);                                    // CSS: the NVM command set
}

}  // namespace

std::string_view to_string(ControllerState state) {
  constexpr std::array<std::string_view, 4> kNames{"disabled", "ready", "shut down", "fatal"};
  return kNames[static_cast<std::size_t>(state)];
}

bool Controller::get_property(const PropertyFields& fields, std::uint64_t* value) const {
  const bool wide = (fields.attributes & 7) == 1;
  if ((fields.attributes & 7) > 1) return false;
  switch (static_cast<Property>(fields.offset)) {
    case Property::kCapabilities:
      *value = capabilities(subsystem_.limits());
      return wide;
    case Property::kVersion:
      *value = kVersion14;
      return !wide;
    case Property::kConfiguration:
      *value = configuration_;
      return !wide;
    case Property::kStatus:
      *value = (state_ == ControllerState::kReady ? kStatusReady : 0) |
               (state_ == ControllerState::kFatal ? kStatusFatal : 0) |
               (state_ == ControllerState::kShutDown ? kStatusReady | kStatusShutdownDone : 0);
      return !wide;
  }
  return false;
}

bool Controller::set_property(const PropertyFields& fields) {
  if ((fields.attributes & 7) != 0) return false;
  if (static_cast<Property>(fields.offset) != Property::kConfiguration) return false;
  configure(static_cast<std::uint32_t>(fields.value));
  return true;
}

void Controller::configure(std::uint32_t value) {
  configuration_ = value;
  if (state_ == ControllerState::kFatal) return;
  if ((value & kShutdownMask) != 0) {
    state_ = ControllerState::kShutDown;
  } else if ((value & kEnable) == 0) {
    state_ = ControllerState::kDisabled;
  } else if ((value & kSettingsMask) != kSettings) {
    // What was asked for cannot be: CSTS.CFS says so.
    state_ = ControllerState::kFatal;
  } else {
    state_ = ControllerState::kReady;
  }
}

void Controller::die() {
  dying_ = true;
  state_ = ControllerState::kFatal;
}

bool Controller::take_queue(std::uint16_t queue_id) {
  if (queue_id == 0 || queue_id > subsystem_.limits().io_queues_max) return false;
  return queues_.insert(queue_id).second;
}

void Controller::set_aborter(std::uint16_t queue_id, CommandAborter* aborter) {
  if (aborter == nullptr) {
    aborters_.erase(queue_id);
  } else {
    aborters_[queue_id] = aborter;
  }
}

bool Controller::abort_command(std::uint16_t queue_id, std::uint16_t command_id) {
  if (queue_id == 0 && abort_event_request(command_id)) return true;
  const auto found = aborters_.find(queue_id);
  return found != aborters_.end() && found->second->abort_command(command_id);
}

std::uint16_t Controller::grant_queues(std::uint16_t asked) {
  queues_granted_ = std::clamp<std::uint16_t>(asked, 1, subsystem_.limits().io_queues_max);
  return queues_granted_;
}

void Controller::set_keep_alive(std::uint32_t milliseconds) {
  // The timer's granularity, KAS, is a second.
  keep_alive_ms_ = static_cast<std::uint32_t>(
      std::min<std::uint64_t>(round_up(milliseconds, 1000), 0xFFFFFFFF / 1000 * 1000));
}

Nanos Controller::expires_at() const {
  if (keep_alive_ms_ == 0) return kForever;
  return last_life_ + std::chrono::milliseconds(keep_alive_ms_);
}

Progress Controller::hold_event_request(Exchange& exchange) {
  if (event_requests_.size() >= kAsyncEventsMax) {
    exchange.status = refuse(StatusCode::kAsyncEventLimit);
    return Progress::kDone;
  }
  event_requests_.push_back(&exchange);
  deliver();
  return Progress::kLater;
}

bool Controller::abort_event_request(std::uint16_t command_id) {
  const auto found = std::ranges::find_if(event_requests_, [command_id](const Exchange* held) {
    return held->sqe.command_id == command_id;
  });
  if (found == event_requests_.end()) return false;
  Exchange& held = **found;
  event_requests_.erase(found);
  held.finish(retry_later(StatusCode::kAbortRequested));
  return true;
}

void Controller::notify(EventKind kind) {
  if ((async_events & kind.enable_bit) == 0 || (masked_ & kind.enable_bit) != 0) return;
  masked_ |= kind.enable_bit;
  pending_.push_back(kind);
  deliver();
}

Namespace* Controller::find_namespace(std::uint32_t id) const {
  Namespace* found = subsystem_.find_namespace(id);
  return found != nullptr && sees(*found) ? found : nullptr;
}

void Controller::notify_namespace(std::uint32_t namespace_id) {
  changed_.insert(namespace_id);
  notify(kNamespaceEvent);
}

void Controller::unmask(EventKind kind) { masked_ &= ~kind.enable_bit; }

void Controller::deliver() {
  while (!pending_.empty() && !event_requests_.empty()) {
    Exchange& held = *event_requests_.front();
    event_requests_.erase(event_requests_.begin());
    held.result = pending_.front().result;
    pending_.erase(pending_.begin());
    held.finish(kDone);
  }
}

}  // namespace forebay::nvme::target
