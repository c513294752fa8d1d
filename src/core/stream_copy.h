// Copies past the caches, for bytes that nobody on this core reads next: a block on its way to a
// tier or to the engine's memory. The destination is not fetched first, so a copy moves two bytes
// of memory traffic a byte and not three.
//
// Threads: any. What was copied is visible to other cores and to devices when the call returns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace forebay {

void stream_copy(std::span<const std::byte> from, std::byte* to);

// The same, and crc32c(from, before): the bytes are read once for both.
[[nodiscard]] std::uint32_t stream_copy_crc32c(std::span<const std::byte> from, std::byte* to,
                                               std::uint32_t before = 0);

}  // namespace forebay
