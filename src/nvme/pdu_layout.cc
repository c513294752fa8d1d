#include "nvme/pdu_layout.h"

#include <algorithm>
#include <array>

#include "core/bytes.h"

namespace forebay::nvme {
namespace {

// Offsets of fields within headers, as fault details.
constexpr std::uint32_t kTypeAt = 0;
constexpr std::uint32_t kFlagsAt = 1;
constexpr std::uint32_t kHeaderBytesAt = 2;
constexpr std::uint32_t kDataOffsetAt = 3;
constexpr std::uint32_t kTotalBytesAt = 4;
constexpr std::uint32_t kDataBytesAt = 16;  // DATAL of a data PDU

enum class Carries : std::uint8_t { kNothing, kCapsuleData, kData, kRefusedHeader };

struct PduRule {
  PduType type;
  Sender sender;
  std::uint8_t header_bytes;
  Carries carries;
  bool initializes;  // an IC PDU: comes first, once, without digests
  bool digests;
};
constexpr std::array<PduRule, 9> kPduRules{{
    {PduType::kIcRequest, Sender::kHost, 128, Carries::kNothing, true, false},
    {PduType::kIcResponse, Sender::kController, 128, Carries::kNothing, true, false},
    {PduType::kHostTerminate, Sender::kHost, 24, Carries::kRefusedHeader, false, false},
    {PduType::kControllerTerminate, Sender::kController, 24, Carries::kRefusedHeader, false, false},
    {PduType::kCommand, Sender::kHost, 72, Carries::kCapsuleData, false, true},
    {PduType::kResponse, Sender::kController, 24, Carries::kNothing, false, true},
    {PduType::kHostData, Sender::kHost, 24, Carries::kData, false, true},
    {PduType::kControllerData, Sender::kController, 24, Carries::kData, false, true},
    {PduType::kReadyToTransfer, Sender::kController, 24, Carries::kNothing, false, true},
}};

std::unexpected<PduFault> refuse_field(std::uint32_t offset) {
  return std::unexpected(PduFault{TerminateReason::kInvalidField, offset});
}

const PduRule* find_rule(PduType type, Sender sender) {
  const auto found = std::ranges::find_if(
      kPduRules, [&](const PduRule& rule) { return rule.type == type && rule.sender == sender; });
  return found == kPduRules.end() ? nullptr : &*found;
}

// The peer may give up at any time; everything else waits for the IC exchange.
bool out_of_sequence(const PduRule& rule, bool initialized) {
  return rule.carries != Carries::kRefusedHeader && rule.initializes == initialized;
}

std::expected<DataExtent, PduFault> refused_header_extent(const CommonHeader& common) {
  if (common.total_bytes > kTerminateBytesMax) return refuse_field(kTotalBytesAt);
  return DataExtent{common.header_bytes, common.total_bytes - common.header_bytes, false};
}

// Where the data of a capsule or data PDU lies; `begin` is the first byte that it may take.
std::expected<DataExtent, PduFault> placed_data(const CommonHeader& common, std::size_t begin,
                                                const PduRules& rules, std::uint32_t bytes_max) {
  const std::uint32_t trailer = rules.digests.data ? kDigestBytes : 0;
  if (common.data_offset < begin || common.data_offset % 4 != 0) return refuse_field(kDataOffsetAt);
  if (common.total_bytes <= common.data_offset + trailer) return refuse_field(kTotalBytesAt);
  if (((common.flags & kFlagDataDigest) != 0) != rules.digests.data) return refuse_field(kFlagsAt);
  const std::uint32_t bytes = common.total_bytes - common.data_offset - trailer;
  if (bytes > bytes_max) {
    return std::unexpected(PduFault{TerminateReason::kDataLimit, kTotalBytesAt});
  }
  return DataExtent{common.data_offset, bytes, rules.digests.data};
}

}  // namespace

std::expected<std::size_t, PduFault> header_extent(const CommonHeader& common,
                                                   const PduRules& rules) {
  const PduRule* rule = find_rule(common.type, rules.sender);
  if (rule == nullptr) return refuse_field(kTypeAt);
  if (out_of_sequence(*rule, rules.initialized)) {
    return std::unexpected(PduFault{TerminateReason::kSequence, kTypeAt});
  }
  if (common.header_bytes != rule->header_bytes) return refuse_field(kHeaderBytesAt);
  const bool digest = rule->digests && rules.digests.header;
  if (((common.flags & kFlagHeaderDigest) != 0) != digest) return refuse_field(kFlagsAt);
  const std::size_t extent = common.header_bytes + (digest ? kDigestBytes : 0);
  if (common.total_bytes < extent) return refuse_field(kTotalBytesAt);
  if (rule->carries == Carries::kNothing && common.total_bytes != extent) {
    return refuse_field(kTotalBytesAt);
  }
  return extent;
}

std::expected<DataExtent, PduFault> data_extent(std::span<const std::byte> header,
                                                const PduRules& rules) {
  const auto common = load_as<CommonHeader>(header);
  const PduRule& rule = *find_rule(common.type, rules.sender);
  if (rule.carries == Carries::kNothing) return DataExtent{};
  if (rule.carries == Carries::kRefusedHeader) return refused_header_extent(common);
  if (rule.carries == Carries::kCapsuleData) {
    if (common.total_bytes == header.size()) return DataExtent{};
    return placed_data(common, header.size(), rules, rules.capsule_data_bytes_max);
  }
  const auto extent = placed_data(common, header.size(), rules, rules.data_bytes_max);
  if (extent && extent->bytes != load_as<DataPdu>(header).data_bytes) {
    return refuse_field(kDataBytesAt);
  }
  return extent;
}

}  // namespace forebay::nvme
