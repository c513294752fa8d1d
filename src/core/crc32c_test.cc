#include "core/crc32c.h"

#include <gtest/gtest.h>

#include <vector>

#include "core/rng.h"

namespace forebay {
namespace {

// The reflected polynomial 0x82f63b78, one bit at a time.
std::uint32_t slow_crc32c(std::span<const std::byte> bytes) {
  std::uint32_t crc = ~0U;
  for (const std::byte byte : bytes) {
    crc ^= std::to_integer<std::uint32_t>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1U) != 0 ? 0x82f63b78U : 0U);
  }
  return ~crc;
}

TEST(Crc32c, LongRunsAgreeWithOneBitAtATimeAndWithPieces) {
  Rng rng(3);
  std::vector<std::byte> bytes(200'003);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(rng.next());
  const std::uint32_t whole = slow_crc32c(bytes);
  EXPECT_EQ(crc32c(bytes), whole);
  for (const std::size_t cut : {1UL, 4096UL, 70'000UL, 131'072UL}) {
    const std::span<const std::byte> all(bytes);
    EXPECT_EQ(crc32c(all.subspan(cut), crc32c(all.first(cut))), whole) << cut;
  }
}

}  // namespace
}  // namespace forebay
