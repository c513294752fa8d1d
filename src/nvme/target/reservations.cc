#include "nvme/target/reservations.h"

#include <algorithm>

namespace forebay::nvme::target {
namespace {

constexpr CommandStatus kConflict = refuse(StatusCode::kReservationConflict);

bool is_exclusive_access(ReservationType type) {
  return type == ReservationType::kExclusiveAccess ||
         type == ReservationType::kExclusiveAccessRegistrants ||
         type == ReservationType::kExclusiveAccessAll;
}

// Types that let every registrant do what the holder may.
bool admits_registrants(ReservationType type) {
  return type != ReservationType::kWriteExclusive && type != ReservationType::kExclusiveAccess;
}

}  // namespace

Reservations::Registrant* Reservations::find(const HostId& host) {
  const auto found = std::ranges::find(registrants_, host, &Registrant::host);
  return found == registrants_.end() ? nullptr : &*found;
}

bool Reservations::is_registrant(const HostId& host) const {
  return std::ranges::find(registrants_, host, &Registrant::host) != registrants_.end();
}

bool Reservations::has_key(const HostId& host, std::uint64_t key) {
  const Registrant* found = find(host);
  return found != nullptr && found->key == key;
}

bool Reservations::all_hold() const {
  return type_ == ReservationType::kWriteExclusiveAll ||
         type_ == ReservationType::kExclusiveAccessAll;
}

bool Reservations::holds(const HostId& host) const {
  if (type_ == ReservationType::kNone) return false;
  return all_hold() ? is_registrant(host) : holder_ == host;
}

bool Reservations::admits(const HostId& host, bool writes) const {
  if (type_ == ReservationType::kNone) return true;
  if (!writes && !is_exclusive_access(type_)) return true;
  return holds(host) || (admits_registrants(type_) && is_registrant(host));
}

// A reservation ends with its holder; one that all hold ends with the last of them.
std::size_t Reservations::remove(const std::function<bool(const Registrant&)>& whom) {
  const std::size_t removed = std::erase_if(registrants_, whom);
  const bool held = all_hold() ? !registrants_.empty() : is_registrant(holder_);
  if (!held) type_ = ReservationType::kNone;
  return removed;
}

CommandStatus Reservations::register_host(const HostId& host, RegisterAction action,
                                          bool ignore_key, const ReservationKeys& keys) {
  Registrant* known = find(host);
  if (action == RegisterAction::kRegister) {
    if (known != nullptr && known->key != keys.other) return kConflict;
    if (known == nullptr && registrants_.size() >= kRegistrantsMax) {
      return retry_later(StatusCode::kInternalError);
    }
    if (known == nullptr) registrants_.push_back({host, keys.other});
  } else {
    if (known == nullptr || (!ignore_key && known->key != keys.current)) return kConflict;
    if (action == RegisterAction::kReplace) {
      known->key = keys.other;
    } else {
      remove([&host](const Registrant& registrant) { return registrant.host == host; });
    }
  }
  ++generation_;
  return kDone;
}

CommandStatus Reservations::acquire(const HostId& host, AcquireAction action, ReservationType type,
                                    const ReservationKeys& keys) {
  if (!has_key(host, keys.current)) return kConflict;
  // What a preempted host still has at the device is not taken back: both preempt alike.
  if (action != AcquireAction::kAcquire) return preempt(host, type, keys.other);
  if (type_ != ReservationType::kNone) return holds(host) && type == type_ ? kDone : kConflict;
  type_ = type;
  holder_ = host;
  return kDone;
}

CommandStatus Reservations::preempt(const HostId& host, ReservationType type, std::uint64_t key) {
  const auto with_key = [key](const Registrant& other) { return other.key == key; };
  const bool of_holder =
      type_ != ReservationType::kNone &&
      (all_hold() ? key == 0 : std::ranges::any_of(registrants_, [&](const Registrant& other) {
        return other.host == holder_ && other.key == key;
      }));
  if (of_holder) return replace_holder(host, type, key);
  if (type_ != ReservationType::kNone && key == 0) return refuse(StatusCode::kInvalidField);
  if (remove(with_key) == 0) return kConflict;
  ++generation_;
  return kDone;
}

// The others with that key, all of them where every registrant held it, are registrants no more.
CommandStatus Reservations::replace_holder(const HostId& host, ReservationType type,
                                           std::uint64_t key) {
  const bool all = all_hold();
  remove([&](const Registrant& other) { return other.host != host && (all || other.key == key); });
  type_ = type;
  holder_ = host;
  ++generation_;
  return kDone;
}

CommandStatus Reservations::release(const HostId& host, ReleaseAction action, ReservationType type,
                                    std::uint64_t key) {
  if (!has_key(host, key)) return kConflict;
  if (action == ReleaseAction::kClear) {
    remove([](const Registrant&) { return true; });
    ++generation_;
    return kDone;
  }
  if (!holds(host)) return kDone;  // nothing of its own to release
  if (type != type_) return refuse(StatusCode::kInvalidField);
  type_ = ReservationType::kNone;
  return kDone;
}

}  // namespace forebay::nvme::target
