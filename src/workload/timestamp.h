// Calendar stamps as traces write them: "2023-11-16 18:17:03.9799600",
// "2024-05-10T00:00:00.009930+00:00", "2026-06-01T05:40:20.151Z".
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace forebay::workload {

// Nanoseconds since 1970-01-01 UTC; a stamp without a zone counts as UTC. Years 1970 to 2200.
[[nodiscard]] std::optional<std::int64_t> parse_timestamp_ns(std::string_view text);

}  // namespace forebay::workload
