// What a command ended with: status code type and code in one number, as printed in the
// specification's tables (Base Specification 2.0, 3.3.3.2.1; NVM Command Set 1.0, 3), and whether
// the host may try again.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace forebay::nvme {

// SCT in bits 10:8, SC in bits 7:0.
enum class StatusCode : std::uint16_t {
  kSuccess = 0x000,
  kInvalidOpcode = 0x001,
  kInvalidField = 0x002,
  kCommandIdConflict = 0x003,
  kDataTransferError = 0x004,
  kInternalError = 0x006,
  kAbortRequested = 0x007,
  kInvalidNamespace = 0x00B,
  kSequenceError = 0x00C,
  kInvalidSglCount = 0x00E,
  kSglLengthInvalid = 0x00F,
  kSglTypeInvalid = 0x011,
  kSglOffsetInvalid = 0x016,
  kHostIdFormat = 0x018,
  kKeepAliveExpired = 0x019,
  kKeepAliveInvalid = 0x01A,
  kNamespaceWriteProtected = 0x020,
  kTransientTransport = 0x022,
  kLbaOutOfRange = 0x080,
  kCapacityExceeded = 0x081,
  kNamespaceNotReady = 0x082,
  kReservationConflict = 0x083,
  kAsyncEventLimit = 0x105,
  kInvalidLogPage = 0x109,
  kFeatureNotSaveable = 0x10D,
  kFeatureNotChangeable = 0x10E,
  kConnectFormat = 0x180,
  kConnectBusy = 0x181,
  kConnectInvalidParameters = 0x182,
  kConnectInvalidHost = 0x184,
  kAuthenticationRequired = 0x191,
  kWriteFault = 0x280,
  kUnrecoveredRead = 0x281,
  kCompareFailure = 0x285,
};
// "Invalid Field in Command", or "status 0x1ff".
[[nodiscard]] std::string to_string(StatusCode code);

struct CommandStatus {
  StatusCode code = StatusCode::kSuccess;
  bool do_not_retry = false;  // DNR: the same command will fail again

  [[nodiscard]] bool ok() const { return code == StatusCode::kSuccess; }
  // Bytes 15:14 of a completion: the phase bit, then code, then DNR as the highest bit.
  [[nodiscard]] constexpr std::uint16_t wire() const {
    return static_cast<std::uint16_t>((static_cast<unsigned>(code) << 1) |
                                      (do_not_retry ? 0x8000U : 0U));
  }
  [[nodiscard]] static constexpr CommandStatus from_wire(std::uint16_t wire) {
    return {static_cast<StatusCode>((wire >> 1) & 0x7FF), (wire & 0x8000) != 0};
  }
  friend bool operator==(const CommandStatus&, const CommandStatus&) = default;
};

inline constexpr CommandStatus kDone{};
// Final: the host must not send the same again.
[[nodiscard]] constexpr CommandStatus refuse(StatusCode code) { return {code, true}; }
// For now: the host may try again.
[[nodiscard]] constexpr CommandStatus retry_later(StatusCode code) { return {code, false}; }

}  // namespace forebay::nvme
