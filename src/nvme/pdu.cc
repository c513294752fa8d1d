#include "nvme/pdu.h"

namespace forebay::nvme {

std::string_view to_string(PduType type) {
  switch (type) {
    case PduType::kIcRequest:
      return "ICReq";
    case PduType::kIcResponse:
      return "ICResp";
    case PduType::kHostTerminate:
      return "H2CTermReq";
    case PduType::kControllerTerminate:
      return "C2HTermReq";
    case PduType::kCommand:
      return "CapsuleCmd";
    case PduType::kResponse:
      return "CapsuleResp";
    case PduType::kHostData:
      return "H2CData";
    case PduType::kControllerData:
      return "C2HData";
    case PduType::kReadyToTransfer:
      return "R2T";
  }
  return "unknown PDU";
}

std::string_view to_string(TerminateReason reason) {
  switch (reason) {
    case TerminateReason::kInvalidField:
      return "invalid PDU header field";
    case TerminateReason::kSequence:
      return "PDU sequence error";
    case TerminateReason::kHeaderDigest:
      return "header digest error";
    case TerminateReason::kDataOutOfRange:
      return "data transfer out of range";
    case TerminateReason::kDataLimit:
      return "data transfer limit exceeded";
    case TerminateReason::kUnsupported:
      return "unsupported parameter";
  }
  return "unknown reason";
}

}  // namespace forebay::nvme
