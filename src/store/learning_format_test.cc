// The expected bytes come from a Python script that packs the tables of docs/formats/flash-tier.md
// with struct.
#include "store/learning_format.h"

#include <gtest/gtest.h>

#include <string>

#include "core/bytes.h"
#include "core/hash.h"

namespace forebay::store {
namespace {

using Bytes = std::vector<std::byte>;

std::span<const std::byte> raw(std::string_view text) { return std::as_bytes(std::span(text)); }

Learned sample() {
  Learned learned;
  learned.spaces = {{"acme", "llama"}, {"", "x"}};
  learned.models = {{Tier::kFlash, "forebay", raw("flash")},
                    {Tier::kDram, "0123456789abcdef", raw("dram")}};
  return learned;
}

Bytes encoded() { return encode_learned(sample(), 4096).bytes; }

TEST(LearningFormat, HasItsDocumentedBytes) {
  EXPECT_EQ(to_hex(encoded()),
            "010000000200000002000000000000000400050061636d656c6c616d61000001007802000000050000"
            "00666f7265626179000000000000000000666c61736801000000040000003031323334353637383961"
            "62636465666472616d");
}

TEST(LearningFormat, ComesBackAsItWas) {
  const Bytes bytes = encoded();
  const Learned read = decode_learned(bytes).value();
  ASSERT_EQ(read.spaces.size(), 2U);
  EXPECT_EQ(read.spaces[0].tenant, "acme");
  EXPECT_EQ(read.spaces[1].layout_fingerprint, "x");
  ASSERT_EQ(read.models.size(), 2U);
  EXPECT_EQ(read.models[0].tier, Tier::kFlash);
  EXPECT_EQ(read.models[0].policy, "forebay");
  EXPECT_EQ(read.models[1].policy, "0123456789abcdef");
  EXPECT_TRUE(std::ranges::equal(read.models[1].state, raw("dram")));
}

TEST(LearningFormat, LeavesOutWhatHasNoRoom) {
  const std::size_t all = encoded().size();
  EXPECT_EQ(encode_learned(sample(), all).left_out_models, 0U);
  const EncodedLearning short_of_one = encode_learned(sample(), all - 1);
  EXPECT_EQ(short_of_one.left_out_models, 1U);
  EXPECT_EQ(decode_learned(short_of_one.bytes).value().models.size(), 1U);
  const EncodedLearning none = encode_learned(sample(), 40);
  EXPECT_EQ(none.left_out_models, 2U);
  EXPECT_LE(none.bytes.size(), 40U);
  EXPECT_TRUE(encode_learned(sample(), 20).bytes.empty());
}

TEST(LearningFormat, OfManySpacesTheFirstAreKept) {
  Learned many;
  for (int i = 0; i < 100; ++i) many.spaces.push_back({"tenant", "layout"});
  const Bytes bytes = encode_learned(many, 1 << 20).bytes;
  EXPECT_EQ(decode_learned(bytes).value().spaces.size(), kLearnedSpacesMax);
}

TEST(LearningFormat, EveryTruncationIsRefused) {
  const Bytes bytes = encoded();
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const auto read = decode_learned(std::span(bytes).first(size));
    ASSERT_FALSE(read) << size;
    EXPECT_EQ(read.error().code, Errc::kCorrupt);
  }
  Bytes longer = bytes;
  longer.push_back(std::byte{0});
  EXPECT_EQ(decode_learned(longer).error().code, Errc::kCorrupt);
}

TEST(LearningFormat, AnotherVersionAndImpossibleCountsAreRefused) {
  Bytes bytes = encoded();
  bytes[0] = std::byte{2};
  EXPECT_EQ(decode_learned(bytes).error().code, Errc::kVersion);
  bytes = encoded();
  bytes[4] = std::byte{65};
  EXPECT_EQ(decode_learned(bytes).error().code, Errc::kCorrupt);
  bytes = encoded();
  bytes[8] = std::byte{3};
  EXPECT_EQ(decode_learned(bytes).error().code, Errc::kCorrupt);
}

}  // namespace
}  // namespace forebay::store
