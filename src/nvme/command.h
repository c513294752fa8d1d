// The 64-byte command and the 16-byte completion of NVMe (NVM Express Base Specification 2.0,
// 3.3.3), with the Fabrics forms of a command (6.2 to 6.6). Little-endian; pure values.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "nvme/opcode.h"
#include "nvme/status.h"

namespace forebay::nvme {

// SGL descriptor (4.1.2). In-capsule: type 0x01, address is the offset behind the command.
struct Sgl {
  std::uint64_t address = 0;
  std::uint32_t length_bytes = 0;
  std::array<std::byte, 3> unused{};
  std::uint8_t type = 0;
};
static_assert(sizeof(Sgl) == 16);
inline constexpr std::uint8_t kSglInCapsule = 0x01;  // data block, offset
inline constexpr std::uint8_t kSglTransport = 0x5A;  // transport data block: by data PDUs

// Sqe::flags: bits 1:0 FUSE, bits 7:6 PSDT. Fabrics wants 01b there: SGLs.
inline constexpr std::uint8_t kFlagsFuse = 0x03;
inline constexpr std::uint8_t kFlagsPsdt = 0xC0;
inline constexpr std::uint8_t kFlagsSgl = 0x40;

struct Sqe {
  std::uint8_t opcode = 0;
  std::uint8_t flags = 0;
  std::uint16_t command_id = 0;
  std::uint32_t namespace_id = 0;  // Fabrics commands: the lowest byte is the Fabrics type
  std::uint32_t dword2 = 0;
  std::uint32_t dword3 = 0;
  std::uint64_t metadata = 0;
  Sgl sgl;
  std::array<std::uint32_t, 6> dwords10{};  // command dwords 10 to 15

  [[nodiscard]] std::uint32_t dword(unsigned number) const { return dwords10[number - 10]; }
  // A 64-bit field in dwords `number` and `number` + 1.
  [[nodiscard]] std::uint64_t qword(unsigned number) const {
    return dword(number) | (static_cast<std::uint64_t>(dword(number + 1)) << 32);
  }
  [[nodiscard]] std::uint8_t fabrics_type() const {
    return static_cast<std::uint8_t>(namespace_id & 0xFF);
  }
};
static_assert(sizeof(Sqe) == 64 && offsetof(Sqe, sgl) == 24 && offsetof(Sqe, dwords10) == 40);

struct Cqe {
  std::uint64_t result = 0;  // dwords 0 and 1
  std::uint16_t queue_head = 0;
  std::uint16_t queue_id = 0;
  std::uint16_t command_id = 0;
  std::uint16_t status = 0;  // CommandStatus::wire(); bit 0, the phase, is 0 on fabrics
};
static_assert(sizeof(Cqe) == 16);

// The fields of a Connect command (6.3) as they stand in dwords 10 to 12.
struct ConnectFields {
  std::uint16_t format = 0;      // RECFMT
  std::uint16_t queue_id = 0;    // 0: the admin queue, and with it a new controller
  std::uint16_t queue_size = 0;  // SQSIZE, from 0
  std::uint8_t attributes = 0;   // CATTR
  std::uint8_t unused = 0;
  std::uint32_t keep_alive_ms = 0;
};
static_assert(sizeof(ConnectFields) == 12);
inline constexpr std::uint8_t kConnectNoFlowControl = 0x04;  // CATTR bit 2: SQHD says nothing

inline constexpr std::size_t kNqnBytes = 256;
struct ConnectData {
  std::array<std::byte, 16> host_id{};
  std::uint16_t controller_id = 0;  // 0xFFFF: any (the dynamic model)
  std::array<std::byte, 238> unused{};
  std::array<char, kNqnBytes> subsystem_nqn{};
  std::array<char, kNqnBytes> host_nqn{};
  std::array<std::byte, 256> unused2{};
};
static_assert(sizeof(ConnectData) == 1024 && offsetof(ConnectData, subsystem_nqn) == 256 &&
              offsetof(ConnectData, host_nqn) == 512);

// Where a command's data goes.
enum class DataDirection : std::uint8_t { kNone, kFromHost, kToHost };

// In the answer to Connect, beside the controller's id: it wants authentication first (ATR), or
// that and a secure channel made of it (ASCR).
inline constexpr std::uint32_t kAuthenticationRequired = 1U << 17;
inline constexpr std::uint32_t kSecureChannelRequired = 1U << 18;

// The fields of Property Get and Property Set (6.5, 6.6), dwords 10 to 13.
struct PropertyFields {
  std::uint8_t attributes = 0;  // bits 2:0: 0 is 4 bytes, 1 is 8
  std::array<std::byte, 3> unused{};
  std::uint32_t offset = 0;
  std::uint64_t value = 0;  // Set only
};
static_assert(sizeof(PropertyFields) == 16);

// One range of a Dataset Management command (NVM Command Set 1.0, 3.2.3).
struct DeallocateRange {
  std::uint32_t attributes = 0;
  std::uint32_t block_count = 0;
  std::uint64_t first_block = 0;
};
static_assert(sizeof(DeallocateRange) == 16);
inline constexpr std::size_t kDeallocateRangesMax = 256;
inline constexpr std::uint32_t kDeallocate = 4;  // dword 11: AD

// Reads one of the above out of a command.
template <class T>
[[nodiscard]] T fields_of(const Sqe& sqe) {
  static_assert(sizeof(T) <= sizeof(sqe.dwords10));
  T fields;
  __builtin_memcpy(&fields, sqe.dwords10.data(), sizeof(T));
  return fields;
}
template <class T>
void set_fields(Sqe& sqe, const T& fields) {
  static_assert(sizeof(T) <= sizeof(sqe.dwords10));
  __builtin_memcpy(sqe.dwords10.data(), &fields, sizeof(T));
}

}  // namespace forebay::nvme
