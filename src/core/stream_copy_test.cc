#include "core/stream_copy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "core/crc32c.h"
#include "core/rng.h"

namespace forebay {
namespace {

constexpr std::byte kGuard{0xee};

std::vector<std::byte> random_bytes(std::size_t size) {
  Rng rng(size);
  std::vector<std::byte> bytes(size);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(rng.next());
  return bytes;
}

// Every size around the thresholds, from and to every kind of address; the bytes around stay.
TEST(StreamCopy, CopiesAndChecksJustTheBytesAsked) {
  constexpr std::size_t kMargin = 128;
  for (const std::size_t size : {0UL, 1UL, 63UL, 1024UL, 16'383UL, 16'384UL, 17'000UL, 262'147UL}) {
    const std::vector<std::byte> source = random_bytes(size + 64);
    for (const std::size_t from : {0UL, 1UL, 17UL}) {
      for (const std::size_t to : {0UL, 1UL, 16UL, 63UL}) {
        const std::span<const std::byte> bytes = std::span(source).subspan(from, size);
        std::vector<std::byte> plain(size + 2 * kMargin, kGuard);
        std::vector<std::byte> checked = plain;
        stream_copy(bytes, plain.data() + to + 1);
        EXPECT_EQ(stream_copy_crc32c(bytes, checked.data() + to + 1, 7), crc32c(bytes, 7));
        EXPECT_EQ(plain, checked);
        const auto begin = plain.begin() + static_cast<std::ptrdiff_t>(to) + 1;
        const auto end = begin + static_cast<std::ptrdiff_t>(size);
        EXPECT_TRUE(std::equal(begin, end, bytes.begin())) << size << ' ' << from << ' ' << to;
        const auto untouched = [](std::byte byte) { return byte == kGuard; };
        EXPECT_TRUE(std::all_of(plain.begin(), begin, untouched));
        EXPECT_TRUE(std::all_of(end, plain.end(), untouched));
      }
    }
  }
}

}  // namespace
}  // namespace forebay
