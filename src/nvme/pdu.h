// The PDUs of NVMe/TCP as they stand on the wire (NVMe TCP Transport Specification 1.0, 3.6.2).
//
// Every multi-byte field is little-endian, as is every machine that builds this (core/bytes.h).
// Lengths are bytes; what the specification counts from 0 says so. Pure: values only.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "nvme/command.h"

namespace forebay::nvme {

enum class PduType : std::uint8_t {
  kIcRequest = 0x00,
  kIcResponse = 0x01,
  kHostTerminate = 0x02,
  kControllerTerminate = 0x03,
  kCommand = 0x04,
  kResponse = 0x05,
  kHostData = 0x06,        // H2CData
  kControllerData = 0x07,  // C2HData
  kReadyToTransfer = 0x09,
};
[[nodiscard]] std::string_view to_string(PduType type);

// CommonHeader::flags.
inline constexpr std::uint8_t kFlagHeaderDigest = 0x01;
inline constexpr std::uint8_t kFlagDataDigest = 0x02;
inline constexpr std::uint8_t kFlagLast = 0x04;     // data PDUs: the transfer's last
inline constexpr std::uint8_t kFlagSuccess = 0x08;  // C2HData: stands for the response as well

inline constexpr std::size_t kDigestBytes = 4;

struct CommonHeader {
  PduType type{};
  std::uint8_t flags = 0;
  std::uint8_t header_bytes = 0;  // HLEN
  std::uint8_t data_offset = 0;   // PDO: from the PDU's begin; 0 without data
  std::uint32_t total_bytes = 0;  // PLEN: header, digests, padding and data
};
static_assert(sizeof(CommonHeader) == 8);

struct IcRequest {  // 3.6.2.2
  CommonHeader common;
  std::uint16_t format = 0;     // PFV
  std::uint8_t data_align = 0;  // HPDA: of C2HData, dwords, from 0
  std::uint8_t digests = 0;     // bit 0 header, bit 1 data
  std::uint32_t ready_max = 0;  // MAXR2T: outstanding per command, from 0
  std::array<std::byte, 112> unused{};
};
static_assert(sizeof(IcRequest) == 128);

struct IcResponse {  // 3.6.2.3
  CommonHeader common;
  std::uint16_t format = 0;
  std::uint8_t data_align = 0;  // CPDA: of what the host sends, dwords, from 0
  std::uint8_t digests = 0;
  std::uint32_t host_data_bytes_max = 0;  // MAXH2CDATA: in one H2CData; >= 4096, multiple of 4
  std::array<std::byte, 112> unused{};
};
static_assert(sizeof(IcResponse) == 128);

struct Terminate {  // 3.6.2.4, 3.6.2.5; up to 128 bytes of the refused header follow
  CommonHeader common;
  std::uint16_t reason = 0;      // FES
  std::uint16_t detail_low = 0;  // FEI: byte offset of the refused field, unaligned on the wire
  std::uint16_t detail_high = 0;
  std::array<std::byte, 10> unused{};
  [[nodiscard]] std::uint32_t detail() const {
    return detail_low | (static_cast<std::uint32_t>(detail_high) << 16);
  }
};
static_assert(sizeof(Terminate) == 24);

struct CommandCapsule {  // 3.6.2.6
  CommonHeader common;
  Sqe sqe;
};
static_assert(sizeof(CommandCapsule) == 72);

struct ResponseCapsule {  // 3.6.2.7
  CommonHeader common;
  Cqe cqe;
};
static_assert(sizeof(ResponseCapsule) == 24);

struct DataPdu {  // 3.6.2.8, 3.6.2.9
  CommonHeader common;
  std::uint16_t command_id = 0;
  std::uint16_t transfer_tag = 0;  // H2CData only
  std::uint32_t data_offset = 0;   // within the command's transfer
  std::uint32_t data_bytes = 0;
  std::uint32_t unused = 0;
};
static_assert(sizeof(DataPdu) == 24);

struct ReadyToTransfer {  // 3.6.2.10
  CommonHeader common;
  std::uint16_t command_id = 0;
  std::uint16_t transfer_tag = 0;
  std::uint32_t data_offset = 0;
  std::uint32_t data_bytes = 0;
  std::uint32_t unused = 0;
};
static_assert(sizeof(ReadyToTransfer) == 24);

inline constexpr std::size_t kHeaderBytesMax = 128;     // ICReq and ICResp
inline constexpr std::size_t kTerminateBytesMax = 152;  // 24 and 128 of the refused header

// FES of a terminate request.
enum class TerminateReason : std::uint16_t {
  kInvalidField = 1,
  kSequence = 2,
  kHeaderDigest = 3,
  kDataOutOfRange = 4,
  kDataLimit = 5,
  kUnsupported = 6,
};
[[nodiscard]] std::string_view to_string(TerminateReason reason);

// Which digests the two sides agreed on.
struct Digests {
  bool header = false;
  bool data = false;
  friend bool operator==(const Digests&, const Digests&) = default;
};
[[nodiscard]] constexpr Digests digests_of(std::uint8_t bits) {
  return {.header = (bits & 1) != 0, .data = (bits & 2) != 0};
}
[[nodiscard]] constexpr std::uint8_t bits_of(Digests digests) {
  return static_cast<std::uint8_t>((digests.header ? 1 : 0) | (digests.data ? 2 : 0));
}

}  // namespace forebay::nvme
