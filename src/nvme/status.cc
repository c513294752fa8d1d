#include "nvme/status.h"

#include <fmt/core.h>

#include <utility>

namespace forebay::nvme {
namespace {

constexpr std::pair<StatusCode, std::string_view> kNames[] = {
    {StatusCode::kSuccess, "Successful Completion"},
    {StatusCode::kInvalidOpcode, "Invalid Command Opcode"},
    {StatusCode::kInvalidField, "Invalid Field in Command"},
    {StatusCode::kCommandIdConflict, "Command ID Conflict"},
    {StatusCode::kDataTransferError, "Data Transfer Error"},
    {StatusCode::kInternalError, "Internal Error"},
    {StatusCode::kAbortRequested, "Command Abort Requested"},
    {StatusCode::kInvalidNamespace, "Invalid Namespace or Format"},
    {StatusCode::kSequenceError, "Command Sequence Error"},
    {StatusCode::kInvalidSglCount, "Invalid Number of SGL Descriptors"},
    {StatusCode::kSglLengthInvalid, "Data SGL Length Invalid"},
    {StatusCode::kSglTypeInvalid, "SGL Descriptor Type Invalid"},
    {StatusCode::kSglOffsetInvalid, "SGL Offset Invalid"},
    {StatusCode::kHostIdFormat, "Host Identifier Inconsistent Format"},
    {StatusCode::kKeepAliveExpired, "Keep Alive Timeout Expired"},
    {StatusCode::kKeepAliveInvalid, "Keep Alive Timeout Invalid"},
    {StatusCode::kNamespaceWriteProtected, "Namespace is Write Protected"},
    {StatusCode::kTransientTransport, "Transient Transport Error"},
    {StatusCode::kLbaOutOfRange, "LBA Out of Range"},
    {StatusCode::kCapacityExceeded, "Capacity Exceeded"},
    {StatusCode::kNamespaceNotReady, "Namespace Not Ready"},
    {StatusCode::kReservationConflict, "Reservation Conflict"},
    {StatusCode::kInvalidLogPage, "Invalid Log Page"},
    {StatusCode::kAsyncEventLimit, "Asynchronous Event Request Limit Exceeded"},
    {StatusCode::kFeatureNotSaveable, "Feature Identifier Not Saveable"},
    {StatusCode::kFeatureNotChangeable, "Feature Not Changeable"},
    {StatusCode::kConnectFormat, "Connect Incompatible Format"},
    {StatusCode::kConnectBusy, "Connect Controller Busy"},
    {StatusCode::kConnectInvalidParameters, "Connect Invalid Parameters"},
    {StatusCode::kConnectInvalidHost, "Connect Invalid Host"},
    {StatusCode::kAuthenticationRequired, "Authentication Required"},
    {StatusCode::kWriteFault, "Write Fault"},
    {StatusCode::kUnrecoveredRead, "Unrecovered Read Error"},
    {StatusCode::kCompareFailure, "Compare Failure"},
};

}  // namespace

std::string to_string(StatusCode code) {
  for (const auto& [known, name] : kNames) {
    if (known == code) return std::string(name);
  }
  return fmt::format("status {:#05x}", static_cast<unsigned>(code));
}

}  // namespace forebay::nvme
