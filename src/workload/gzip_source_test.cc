#include "workload/gzip_source.h"

#include <gtest/gtest.h>

#include <array>

#include "workload/drip_source_testing.h"

namespace forebay::workload {
namespace {

// By Python's gzip module: "one " and "two", each a member.
constexpr std::string_view kOne(
    "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\xcb\xcf"
    "\x4b\x55\x00\x00\x49\x61\xac\x23\x04\x00\x00\x00",
    24);
constexpr std::string_view kTwo(
    "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\x2b\x29"
    "\xcf\x07\x00\x66\x8a\xca\x11\x03\x00\x00\x00",
    23);

Result<std::string> unpacked(std::string packed, std::size_t step, std::size_t room) {
  const auto source = gzip_source(std::make_unique<DripSource>(std::move(packed), step));
  std::string all;
  std::string buffer(room, '\0');
  while (true) {
    FOREBAY_TRY(got, source->read(buffer));
    if (got == 0) return all;
    all.append(buffer, 0, got);
  }
}

TEST(GzipSource, MembersBehindEachOtherAreOneStreamHoweverTheyArrive) {
  const std::string both = std::string(kOne) + std::string(kTwo);
  for (const std::size_t step : {1U, 2U, 7U, 24U, 1000U}) {
    for (const std::size_t room : {1U, 3U, 4096U}) {
      EXPECT_EQ(unpacked(both, step, room).value_or("error"), "one two") << step << " " << room;
    }
  }
}

TEST(GzipSource, WhatIsCutIsCorruptNeverShort) {
  for (std::size_t size = 2; size < kOne.size(); ++size) {
    const auto text = unpacked(std::string(kOne.substr(0, size)), 1000, 4096);
    ASSERT_FALSE(text.has_value()) << size;
    EXPECT_EQ(text.error().code, Errc::kCorrupt);
  }
}

TEST(GzipSource, ABrokenSumAndOtherBytesBehindAreCorrupt) {
  std::string broken(kOne);
  broken[broken.size() - 8] = static_cast<char>(broken[broken.size() - 8] ^ 1);
  EXPECT_EQ(unpacked(broken, 1000, 4096).error().code, Errc::kCorrupt);
  EXPECT_EQ(unpacked(std::string(kOne) + "x", 1000, 4096).error().code, Errc::kCorrupt);
}

}  // namespace
}  // namespace forebay::workload
