// Who may use a namespace: its registrants, and the reservation that one of them holds (Base
// Specification 2.0, 7.2 to 7.5 and 8.19).
//
// A registrant is a host identifier with a key; it stays one when its controllers are gone, until
// it unregisters or another host preempts it. Nothing of this outlives the process (no PTPL).
// Pure: no clock, no controller. Threads: one loop's.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "nvme/reservation.h"
#include "nvme/status.h"

namespace forebay::nvme::target {

using HostId = std::array<std::byte, 16>;

inline constexpr std::size_t kRegistrantsMax = 1024;  // of a namespace

class Reservations {
 public:
  struct Registrant {
    HostId host{};
    std::uint64_t key = 0;
  };

  [[nodiscard]] CommandStatus register_host(const HostId& host, RegisterAction action,
                                            bool ignore_key, const ReservationKeys& keys);
  [[nodiscard]] CommandStatus acquire(const HostId& host, AcquireAction action,
                                      ReservationType type, const ReservationKeys& keys);
  [[nodiscard]] CommandStatus release(const HostId& host, ReleaseAction action,
                                      ReservationType type, std::uint64_t key);

  // Whether the reservation lets this host's commands through: those that write (Flush is one of
  // them), and those that only read.
  [[nodiscard]] bool admits(const HostId& host, bool writes) const;

  [[nodiscard]] std::uint32_t generation() const { return generation_; }
  [[nodiscard]] ReservationType type() const { return type_; }
  [[nodiscard]] std::span<const Registrant> registrants() const { return registrants_; }
  [[nodiscard]] bool holds(const HostId& host) const;

 private:
  [[nodiscard]] Registrant* find(const HostId& host);
  [[nodiscard]] bool is_registrant(const HostId& host) const;
  [[nodiscard]] bool has_key(const HostId& host, std::uint64_t key);
  [[nodiscard]] bool all_hold() const;
  std::size_t remove(const std::function<bool(const Registrant&)>& whom);
  CommandStatus preempt(const HostId& host, ReservationType type, std::uint64_t key);
  CommandStatus replace_holder(const HostId& host, ReservationType type, std::uint64_t key);

  std::vector<Registrant> registrants_;
  ReservationType type_ = ReservationType::kNone;
  HostId holder_{};  // of a type that one registrant holds
  std::uint32_t generation_ = 0;
};

}  // namespace forebay::nvme::target
