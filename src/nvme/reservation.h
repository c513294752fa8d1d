// Reservations of a namespace as both roles speak of them (NVM Express Base Specification 2.0, 7.2
// to 7.5): the fields of their commands and what Reservation Report answers. Pure values.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "nvme/command.h"

namespace forebay::nvme {

enum class ReservationType : std::uint8_t {
  kNone = 0,
  kWriteExclusive = 1,
  kExclusiveAccess = 2,
  kWriteExclusiveRegistrants = 3,
  kExclusiveAccessRegistrants = 4,
  kWriteExclusiveAll = 5,  // every registrant is a holder
  kExclusiveAccessAll = 6,
};

// Dword 10, bits 2:0, of the three commands that change something.
enum class RegisterAction : std::uint8_t { kRegister = 0, kUnregister = 1, kReplace = 2 };
enum class AcquireAction : std::uint8_t { kAcquire = 0, kPreempt = 1, kPreemptAndAbort = 2 };
enum class ReleaseAction : std::uint8_t { kRelease = 0, kClear = 1 };
inline constexpr std::uint32_t kIgnoreKey = 1U << 3;            // IEKEY
inline constexpr unsigned kReservationTypeShift = 8;            // RTYPE
inline constexpr std::uint32_t kExtendedReservationReport = 1;  // dword 11: EDS

// The data of Register and Acquire; of Release it is the first field alone.
struct ReservationKeys {
  std::uint64_t current = 0;  // CRKEY
  std::uint64_t other = 0;    // Register: the new key, NRKEY. Acquire: whom to preempt, PRKEY.
};
static_assert(sizeof(ReservationKeys) == 16);

// The extended forms: over fabrics a host identifier has 16 bytes.
struct ReservationReport {
  std::uint32_t generation = 0;
  ReservationType type = ReservationType::kNone;
  std::array<std::uint8_t, 2> registered{};  // REGCTL: how many entries follow
  std::array<std::byte, 2> unused{};
  std::uint8_t persists = 0;  // PTPLS
  std::array<std::byte, 54> unused2{};
};
static_assert(sizeof(ReservationReport) == 64 && offsetof(ReservationReport, registered) == 5 &&
              offsetof(ReservationReport, persists) == 9);

struct ReservationEntry {
  std::uint16_t controller_id = 0xFFFF;
  std::uint8_t status = 0;  // bit 0: holds the reservation
  std::array<std::byte, 5> unused{};
  std::uint64_t key = 0;
  std::array<std::byte, 16> host_id{};
  std::array<std::byte, 32> unused2{};
};
static_assert(sizeof(ReservationEntry) == 64 && offsetof(ReservationEntry, key) == 8 &&
              offsetof(ReservationEntry, host_id) == 16);
// A registrant that has no controller now.
inline constexpr std::uint16_t kNoController = 0xFFFF;
inline constexpr std::uint8_t kHoldsReservation = 1;

// RESCAP of a namespace: bits 6:1 are the types in their order, bit 0 PTPL, bit 7 IEKEY as in 1.3.
inline constexpr std::uint8_t kReservationAllTypes = 0xFE;
inline constexpr std::uint8_t kReservationWriteExclusive = 1U << 1;
inline constexpr std::uint16_t kReservationCommands = 1U << 5;  // ONCS

}  // namespace forebay::nvme
