// Sizes of what a queue keeps; memory of an idle one is about their sum.
#pragma once

#include <cstddef>
#include <cstdint>

namespace forebay::nvme::initiator {

// Received at a time beside what goes straight to a read's memory.
inline constexpr std::size_t kInputBytes = 32 * 1024;
// Data that is still to come is received in its place from this size on.
inline constexpr std::size_t kDirectBytesMin = 4 * 1024;
inline constexpr std::size_t kReceivePiecesMax = 256;

// Headers and digests of one send, and the most that one PDU stages: header, padding, digest.
inline constexpr std::size_t kStagingBytes = 8 * 1024;
inline constexpr std::size_t kStagedPduBytesMax = 256;
// Pieces of one PDU's data and of one send; a send also ends after so many bytes.
inline constexpr std::size_t kPduPiecesMax = 256;
inline constexpr std::size_t kBatchPiecesMax = 512;
inline constexpr std::size_t kBatchBytesMax = 1024 * 1024;
// Of one H2CData without a digest, whatever the peer allows: others get their turn.
inline constexpr std::uint32_t kHostDataBytesMax = 256 * 1024;
inline constexpr std::uint32_t kCapsuleDataBytesMax = 64 * 1024;

// Of an answer that is no NVMe/TCP, for a message.
inline constexpr std::size_t kStrangeBytesMax = 40;

// A command identifier: the slot in the low bits, its generation above.
inline constexpr unsigned kSlotBits = 10;
inline constexpr std::uint16_t kEntriesMax = 1 << kSlotBits;

}  // namespace forebay::nvme::initiator
