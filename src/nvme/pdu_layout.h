// What a PDU header promises about the bytes behind it, checked against what was agreed: the one
// place that decides whether a PDU is well formed. Pure.
#pragma once

#include <cstdint>
#include <expected>
#include <span>

#include "nvme/pdu.h"

namespace forebay::nvme {

enum class Sender : std::uint8_t { kHost, kController };

// What this side accepts from its peer.
struct PduRules {
  Sender sender = Sender::kHost;  // who the peer is
  bool initialized = false;  // the IC PDUs were exchanged: no other may come before, none after
  Digests digests;
  std::uint32_t capsule_data_bytes_max = 0;  // in-capsule data of one command
  std::uint32_t data_bytes_max = 0;          // of one H2CData or C2HData
};

// Why a PDU is refused: the reason and the byte offset that a terminate request carries.
struct PduFault {
  TerminateReason reason{};
  std::uint32_t offset = 0;
  friend bool operator==(const PduFault&, const PduFault&) = default;
};

// Of the header itself, from its first 8 bytes: header and header digest.
[[nodiscard]] std::expected<std::size_t, PduFault> header_extent(const CommonHeader& common,
                                                                 const PduRules& rules);

struct DataExtent {
  std::uint32_t offset = 0;  // from the PDU's begin
  std::uint32_t bytes = 0;
  bool digest = false;
};
// Of the data, from the whole header (header_extent() bytes, its digest already checked).
[[nodiscard]] std::expected<DataExtent, PduFault> data_extent(std::span<const std::byte> header,
                                                              const PduRules& rules);

}  // namespace forebay::nvme
