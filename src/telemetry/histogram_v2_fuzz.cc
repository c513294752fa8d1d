// Any text, or any payload, is a histogram that comes back cell by cell, or a clear refusal.
//
// The first byte's lowest bit says which of the two the rest is.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "telemetry/histogram.h"
#include "telemetry/histogram_v2.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace telemetry = forebay::telemetry;
  if (size == 0) return 0;
  std::string text(reinterpret_cast<const char*>(data + 1), size - 1);
  if ((data[0] & 1) != 0) {
    if (size > telemetry::kV2PayloadBytesMax) return 0;
    text = telemetry::wrap_v2(std::as_bytes(std::span(data + 1, size - 1)));
  }
  const auto read = telemetry::Histogram::decode_v2(text);
  if (!read) return 0;
  const auto again = telemetry::Histogram::decode_v2(read->encode_v2());
  if (!again || again->count() != read->count() || again->max() != read->max()) std::abort();
  return 0;
}
