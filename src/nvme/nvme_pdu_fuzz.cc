// Any bytes, in pieces of any size, are PDUs or one fault; the pieces' size changes nothing.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

#include "nvme/pdu_parser.h"

namespace forebay::nvme {
namespace {

constexpr std::uint32_t kDataBytesMax = 4096;

struct Seen {
  std::vector<std::byte> data;
  std::vector<PduType> ended;
  std::size_t broken_data = 0;
  PduFault fault;
  friend bool operator==(const Seen&, const Seen&) = default;
};

Seen parse(std::span<const std::byte> input, const PduRules& start, Digests digests,
           std::size_t piece_bytes) {
  PduParser parser(start);
  Seen seen;
  while (true) {
    std::span<const std::byte> piece = input.first(std::min(piece_bytes, input.size()));
    if (piece.empty()) return seen;
    input = input.subspan(piece.size());
    for (PduEvent event = PduEvent::kHeader; event != PduEvent::kMore;) {
      event = parser.next(piece);
      if (event == PduEvent::kFault) {
        seen.fault = parser.fault();
        return seen;
      }
      if (event == PduEvent::kData) {
        if (parser.data().empty() || parser.data_bytes() > kDataBytesMax) std::abort();
        seen.data.insert(seen.data.end(), parser.data().begin(), parser.data().end());
      }
      if (event != PduEvent::kEnd) continue;
      seen.ended.push_back(parser.type());
      seen.broken_data += parser.data_intact() ? 0U : 1U;
      PduRules rules = start;
      rules.initialized = true;
      rules.digests = digests;
      parser.set_rules(rules);
    }
    if (!piece.empty()) std::abort();
  }
}

void run(std::span<const std::uint8_t> bytes) {
  const auto input = std::as_bytes(bytes.subspan(1));
  const PduRules start{.sender = (bytes[0] & 1) != 0 ? Sender::kController : Sender::kHost,
                       .capsule_data_bytes_max = kDataBytesMax,
                       .data_bytes_max = kDataBytesMax};
  const Digests digests = digests_of(static_cast<std::uint8_t>(bytes[0] >> 1));
  const std::size_t piece = std::max<std::size_t>(bytes[0] >> 3, 1);
  const std::size_t all = std::max<std::size_t>(input.size(), 1);
  if (parse(input, start, digests, piece) != parse(input, start, digests, all)) std::abort();
}

}  // namespace
}  // namespace forebay::nvme

// The first byte: bit 0 the sender, bits 2:1 the digests, bits 7:3 the size of a piece.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  forebay::nvme::run({data, size});
  return 0;
}
