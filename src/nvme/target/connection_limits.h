// Sizes of what a connection keeps; memory of an idle one is about their sum.
#pragma once

#include <cstddef>

namespace forebay::nvme::target {

// Received at a time. In-capsule data and small H2CData pass through it.
inline constexpr std::size_t kInputBytes = 32 * 1024;
// Data that is still to come is received in its place from this size on.
inline constexpr std::size_t kDirectBytesMin = 8 * 1024;
// Headers and digests of one send.
inline constexpr std::size_t kStagingBytes = 8 * 1024;
// The most that one answer stages: data header with padding, digest, response.
inline constexpr std::size_t kStagedAnswerBytesMax = 256;
// A send has at most so many pieces, and ends after so many bytes of data.
inline constexpr std::size_t kBatchPiecesMax = 64;
inline constexpr std::size_t kBatchBytesMax = 1024 * 1024;

}  // namespace forebay::nvme::target
