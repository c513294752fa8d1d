// PDUs into bytes: header, header digest and padding in one small array, which the sender puts
// before the data and the data digest. Pure.
//
// Each encode_...() fills the common header and both lengths; the caller sets the other fields.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "nvme/pdu.h"

namespace forebay::nvme {

// Up to where data begins. The largest is a terminate request with a whole refused header.
class HeaderBytes {
 public:
  [[nodiscard]] std::span<const std::byte> bytes() const { return std::span(bytes_).first(size_); }
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  friend class HeaderWriter;
  std::array<std::byte, kTerminateBytesMax> bytes_{};
  std::size_t size_ = 0;
};

// How data PDUs are laid out towards this peer.
struct SendFormat {
  Digests digests;
  std::uint32_t data_align_bytes = 4;  // 4 to 128, from the peer's HPDA or CPDA
};
[[nodiscard]] constexpr std::uint32_t data_align_bytes(std::uint8_t dwords_from_zero) {
  return (std::uint32_t{dwords_from_zero} + 1) * 4;
}
inline constexpr std::uint8_t kDataAlignMax = 31;  // HPDA, CPDA

[[nodiscard]] HeaderBytes encode_ic_request(IcRequest pdu);
[[nodiscard]] HeaderBytes encode_ic_response(IcResponse pdu);
// `refused`: as much of the bad PDU's header as came.
[[nodiscard]] HeaderBytes encode_terminate(PduType type, TerminateReason reason,
                                           std::uint32_t detail,
                                           std::span<const std::byte> refused);
// `data_bytes` of in-capsule data follow, then its digest where agreed.
[[nodiscard]] HeaderBytes encode_command(const Sqe& sqe, std::uint32_t data_bytes,
                                         const SendFormat& format);
[[nodiscard]] HeaderBytes encode_response(const Cqe& cqe, const SendFormat& format);
// kHostData or kControllerData; `flags`: kFlagLast, kFlagSuccess. pdu.data_bytes > 0 follow.
[[nodiscard]] HeaderBytes encode_data(PduType type, std::uint8_t flags, DataPdu pdu,
                                      const SendFormat& format);
[[nodiscard]] HeaderBytes encode_ready(ReadyToTransfer pdu, const SendFormat& format);

}  // namespace forebay::nvme
