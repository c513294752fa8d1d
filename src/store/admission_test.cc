#include "store/admission.h"

#include <gtest/gtest.h>

#include "core/rng.h"

namespace forebay::store {
namespace {

BlockId id_of(std::uint64_t number) {
  BlockId id;
  const std::uint64_t word = mix64(number);
  std::memcpy(id.digest.data(), &word, sizeof word);
  return id;
}

TEST(FrequencySketch, NeverCountsLessThanWasSeenAndSaturates) {
  FrequencySketch sketch(1 << 16);
  for (std::uint64_t word = 1; word <= 1000; ++word) {
    for (std::uint64_t i = 0; i < word % 20; ++i) sketch.record(mix64(word));
  }
  for (std::uint64_t word = 1; word <= 1000; ++word) {
    ASSERT_GE(sketch.estimate(mix64(word)), std::min<std::uint64_t>(word % 20, 15));
  }
}

TEST(FrequencySketch, TakesFewNewBlocksForSeenOnes) {
  FrequencySketch sketch(1 << 14);
  for (std::uint64_t i = 0; i < (1 << 14); ++i) sketch.record(mix64(i));
  int mistaken = 0;
  for (std::uint64_t i = 1'000'000; i < 1'010'000; ++i) mistaken += sketch.estimate(mix64(i)) > 0;
  // Four rows at a load of 1: (1 - 1/e)^4 = 0.16.
  EXPECT_LT(mistaken, 2000);
}

TEST(FrequencySketch, ForgetsByHalfAsItAges) {
  FrequencySketch sketch(1024);
  for (int i = 0; i < 12; ++i) sketch.record(42);
  ASSERT_GE(sketch.estimate(42), 12U);
  for (std::uint64_t i = 0; i < 8 * 1024; ++i) sketch.record(mix64(i % 7 + 100));
  EXPECT_LE(sketch.estimate(42), 7U);
}

TEST(Admission, AllAdmitsEverything) {
  const auto admission = make_admission("all", 1000).value();
  EXPECT_TRUE(admission->admits(id_of(1)));
  EXPECT_EQ(admission->memory_bytes(), 0U);
}

TEST(Admission, ReuseAdmitsWhatWasSeenBefore) {
  const auto admission = make_admission("reuse", 1000).value();
  admission->see(id_of(1));
  EXPECT_FALSE(admission->admits(id_of(1)));
  admission->see(id_of(1));
  EXPECT_TRUE(admission->admits(id_of(1)));
  EXPECT_FALSE(admission->admits(id_of(2)));
}

TEST(Admission, AnUnknownNameIsRefused) {
  EXPECT_EQ(make_admission("some", 1).error().code, Errc::kInvalid);
}

}  // namespace
}  // namespace forebay::store
