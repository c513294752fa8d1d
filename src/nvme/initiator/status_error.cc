#include "nvme/initiator/status_error.h"

#include <array>

namespace forebay::nvme::initiator {
namespace {

struct Known {
  StatusCode code;
  Error error;
};

constexpr std::array kKnown{
    Known{StatusCode::kInvalidOpcode, {Errc::kUnsupported, "nvme: Invalid Command Opcode"}},
    Known{StatusCode::kInvalidField, {Errc::kInvalid, "nvme: Invalid Field in Command"}},
    Known{StatusCode::kDataTransferError, {Errc::kIo, "nvme: Data Transfer Error"}},
    Known{StatusCode::kInternalError, {Errc::kIo, "nvme: Internal Error"}},
    Known{StatusCode::kAbortRequested, {Errc::kCancelled, "nvme: Command Abort Requested"}},
    Known{StatusCode::kInvalidNamespace, {Errc::kGone, "nvme: the namespace is not there"}},
    Known{StatusCode::kSglLengthInvalid, {Errc::kInvalid, "nvme: Data SGL Length Invalid"}},
    Known{StatusCode::kSglTypeInvalid, {Errc::kInvalid, "nvme: SGL Descriptor Type Invalid"}},
    Known{StatusCode::kSglOffsetInvalid, {Errc::kInvalid, "nvme: SGL Offset Invalid"}},
    Known{StatusCode::kNamespaceWriteProtected, {Errc::kReadOnly, "nvme: write protected"}},
    Known{StatusCode::kTransientTransport, {Errc::kIo, "nvme: Transient Transport Error"}},
    Known{StatusCode::kLbaOutOfRange, {Errc::kInvalid, "nvme: LBA Out of Range"}},
    Known{StatusCode::kCapacityExceeded, {Errc::kNoSpace, "nvme: Capacity Exceeded"}},
    Known{StatusCode::kNamespaceNotReady, {Errc::kBusy, "nvme: Namespace Not Ready"}},
    Known{StatusCode::kReservationConflict,
          {Errc::kExists, "nvme: another host has reserved the namespace"}},
    Known{StatusCode::kConnectFormat, {Errc::kVersion, "nvme connect: another format"}},
    Known{StatusCode::kConnectBusy, {Errc::kBusy, "nvme connect: the controller is busy"}},
    Known{StatusCode::kConnectInvalidParameters,
          {Errc::kNotFound, "nvme connect: no such subsystem (or queue); check the NQN"}},
    Known{StatusCode::kConnectInvalidHost,
          {Errc::kDenied, "nvme connect: this host is not on the target's list"}},
    Known{StatusCode::kAuthenticationRequired,
          {Errc::kDenied, "nvme: the target wants in-band authentication"}},
    Known{StatusCode::kWriteFault, {Errc::kIo, "nvme: Write Fault"}},
    Known{StatusCode::kUnrecoveredRead, {Errc::kIo, "nvme: Unrecovered Read Error"}},
};

// Path related status: SCT 3.
constexpr unsigned kPathType = 3;

}  // namespace

Error error_of(CommandStatus status) {
  for (const Known& known : kKnown) {
    if (known.code == status.code) return known.error;
  }
  if (static_cast<unsigned>(status.code) >> 8 == kPathType) {
    return {Errc::kGone, "nvme: the path to the namespace is not usable"};
  }
  return {Errc::kIo, "nvme: the command failed"};
}

}  // namespace forebay::nvme::initiator
