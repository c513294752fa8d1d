#include "workload/byte_source.h"

#include <gtest/gtest.h>

#include <array>

#include "workload/trace_testing.h"

namespace forebay::workload {
namespace {

Result<std::string> all_of(ByteSource& source) {
  std::string all;
  std::array<char, 1000> buffer{};
  while (true) {
    FOREBAY_TRY(got, source.read(buffer));
    if (got == 0) return all;
    all.append(buffer.data(), got);
  }
}

std::string sample() {
  std::string text;
  for (int i = 0; i < 5000; ++i) text += fmt::format("line {}\n", i * i);
  return text;
}

TEST(ByteSource, PlainBytesPassAndPackedOnesAreUnpacked) {
  for (const std::string& bytes : {sample(), zstd_of(sample())}) {
    auto source = decompressed(memory_source(bytes));
    ASSERT_TRUE(source.has_value());
    EXPECT_EQ(all_of(**source).value_or("error"), sample());
  }
}

TEST(ByteSource, FramesBehindEachOtherAreOneStream) {
  auto source = decompressed(memory_source(zstd_of("one ") + zstd_of("two")));
  ASSERT_TRUE(source.has_value());
  EXPECT_EQ(all_of(**source).value_or("error"), "one two");
}

TEST(ByteSource, ACutOrBrokenFrameIsCorruptNeverShort) {
  const std::string packed = zstd_of(sample());
  for (const std::size_t size : {packed.size() - 1, packed.size() / 2, std::size_t{5}}) {
    auto source = decompressed(memory_source(packed.substr(0, size)));
    ASSERT_TRUE(source.has_value());
    const auto all = all_of(**source);
    ASSERT_FALSE(all.has_value()) << size;
    EXPECT_EQ(all.error().code, Errc::kCorrupt);
  }
  std::string damaged = packed;
  damaged[damaged.size() / 2] = static_cast<char>(damaged[damaged.size() / 2] ^ 0x55);
  damaged[6] = static_cast<char>(damaged[6] ^ 0xff);
  auto source = decompressed(memory_source(damaged));
  ASSERT_TRUE(source.has_value());
  EXPECT_NE(all_of(**source).value_or("error"), sample());
}

TEST(ByteSource, PeekTakesNothingAway) {
  PeekSource source(memory_source("abcdef"));
  EXPECT_EQ(source.peek(3).value_or(""), "abc");
  EXPECT_EQ(source.peek(100).value_or(""), "abcdef");
  std::array<char, 2> two{};
  EXPECT_EQ(source.read(two).value_or(0), 2U);
  EXPECT_EQ(source.peek(100).value_or(""), "cdef");
  EXPECT_EQ(all_of(source).value_or(""), "cdef");
}

TEST(ByteSource, AMissingFileSaysSo) {
  const auto file = open_file("/nonexistent/trace.jsonl");
  ASSERT_FALSE(file.has_value());
  EXPECT_EQ(file.error().code, Errc::kNotFound);
}

// Read with a format's name, it would never end.
TEST(ByteSource, ADeviceIsRefused) {
  const auto file = open_file("/dev/zero");
  ASSERT_FALSE(file.has_value());
  EXPECT_EQ(file.error().code, Errc::kInvalid);
}

}  // namespace
}  // namespace forebay::workload
