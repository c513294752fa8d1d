#include "core/hash.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "core/crc32c.h"

namespace forebay {
namespace {

// FIPS 180-4 example vectors.
TEST(Sha256, AgreesWithThePublishedVectors) {
  EXPECT_EQ(to_hex(sha256("")), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(to_hex(sha256("abc")),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(Sha256, PiecesGiveTheSameDigestAsTheWhole) {
  Sha256 hasher;
  hasher.update("a");
  hasher.update("bc");
  EXPECT_EQ(hasher.finish(), sha256("abc"));
  hasher.update("abc");
  EXPECT_EQ(hasher.finish(), sha256("abc"));
}

// RFC 3720 appendix B.4.
TEST(Crc32c, AgreesWithTheRfcVectors) {
  const std::vector<std::byte> zeros(32, std::byte{0});
  const std::vector<std::byte> ones(32, std::byte{0xff});
  std::vector<std::byte> rising(32);
  for (std::size_t i = 0; i < rising.size(); ++i) rising[i] = static_cast<std::byte>(i);
  EXPECT_EQ(crc32c(zeros), 0x8a9136aaU);
  EXPECT_EQ(crc32c(ones), 0x62a8ab43U);
  EXPECT_EQ(crc32c(rising), 0x46dd794eU);
}

TEST(Crc32c, ContinuesFromThePrecedingBytes) {
  const std::string_view text = "123456789";
  const auto bytes = std::as_bytes(std::span(text));
  EXPECT_EQ(crc32c(bytes), 0xe3069283U);
  for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
    EXPECT_EQ(crc32c(bytes.subspan(cut), crc32c(bytes.first(cut))), 0xe3069283U) << cut;
  }
}

// XXH3 with seed 0 of the empty input, from the xxHash specification's sanity table.
TEST(Hash64, IsXxh3) { EXPECT_EQ(hash64(std::string_view("")), 0x2d06800538d394c2ULL); }

}  // namespace
}  // namespace forebay
