#include "core/field_reader.h"

#include <gtest/gtest.h>

#include <array>

namespace forebay {
namespace {

constexpr std::array<std::byte, 7> kBytes{std::byte{0x34}, std::byte{0x12}, std::byte{'a'},
                                          std::byte{'b'},  std::byte{9},    std::byte{8},
                                          std::byte{7}};

TEST(FieldReader, TakesOneFieldAfterAnother) {
  FieldReader reader(kBytes);
  std::uint16_t number = 0;
  std::string_view text;
  std::span<const std::byte> bytes;
  ASSERT_TRUE(reader.take(number));
  ASSERT_TRUE(reader.take_text(2, text));
  EXPECT_FALSE(reader.at_end());
  ASSERT_TRUE(reader.take_bytes(3, bytes));
  EXPECT_EQ(number, 0x1234);
  EXPECT_EQ(text, "ab");
  EXPECT_EQ(bytes.data(), kBytes.data() + 4);
  EXPECT_TRUE(reader.at_end());
}

TEST(FieldReader, TakesNothingOfWhatIsNotWholeThere) {
  FieldReader reader(std::span(kBytes).first(3));
  std::uint32_t number = 5;
  std::string_view text = "kept";
  std::span<const std::byte> bytes;
  EXPECT_FALSE(reader.take(number));
  EXPECT_FALSE(reader.take_text(4, text));
  EXPECT_FALSE(reader.take_bytes(~std::size_t{0}, bytes));
  EXPECT_EQ(number, 5U);
  EXPECT_EQ(text, "kept");
  EXPECT_TRUE(reader.take_bytes(3, bytes)) << "all is still there";
  EXPECT_TRUE(reader.take_text(0, text));
  EXPECT_EQ(text, "");
}

}  // namespace
}  // namespace forebay
