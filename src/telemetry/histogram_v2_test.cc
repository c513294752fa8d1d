#include "telemetry/histogram_v2.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

#include "core/hash.h"
#include "core/rng.h"
#include "telemetry/histogram.h"
#include "telemetry/histogram_cells.h"

namespace forebay::telemetry {
namespace {

// Made by PyPI hdrhistogram 0.10.3: `tests/interop/hdr_histogram.py make`.
struct Outside {
  const char* name;
  const char* text;
  const char* payload_hex;
};
constexpr std::array<Outside, 4> kOutside{{
    {"empty", "HISTFAAAABp4nJNpmSzMgADMUJoRQrH/t/8AYQEAQ1YDgA==",
     "1c849313000000000000000000000003000000000000000100000000000007ff3ff0000000000000"},
    {"small", "HISTFAAAACN4nJNpmSzMwMDAxgABzFCaEUKx/7f/ABVgYjvJzwUAW+sEcQ==",
     "1c849313000000060000000000000003000000000000000100000000000007ff3ff0000000000000010206c9"
     "0f0a"},
    {"latencies",
     "HISTFAAAANV4nJ3LMU7EQAwF0Nh4PMYaxoooaGisnAJRUI22p+U40I5SUEcRJ+AIOQIn4AB0SBwgKLtb7AJasTuF"
     "R+9//eun58umwdtm8862P6zvPM93n5vgzejrXt4tPZ7jB/NEOlGeiF5RBkwj4oA8og6YR6QXkB5SBazAPWiFXIHq"
     "TlhB+3X4ICWtsHDRkguVXyq4+lM34snR2dWzk2/V7cl/qDvQLeoOdC5XydDY1LKRiR2l9sTdovbE3aL2qN0FBo4a"
     "cqQgMcU9BYwcNOZAUcI/ul19AwIXOCY=",
     "1c8493130000023b000000000000000300000000000000010000000000ffffff3ff0000000000000cf0f04f3"
     "5208dd0f0c830902e90606bf040abf040ebf0404af02089d020c9f02029d02069f020a9d020e9f0204a10108"
     "8f010c8d01028d01068f010a8d010e8d01048d01088f010c8d01028d01068d010a8f010e8d01045b08450c47"
     "024506450a450e45044508450c47024506450a450e45044508450c45024706450a450e45044508450c450247"
     "06450a450e45043908210c21022106210a210e21042108210c21022106230a210e21042108210c2102210621"
     "0a210e21042108210c21022106210a230e21042108210c21022106210a210e21042108210c21022106210a21"
     "0e21042308210c21022106210a210e21042108210c21022106210a210e21042108170c0f020f060f0a0f0e0f"
     "040f080f0c0f020f060f0a0f0e0f040f080f0c0f020f060f0a0f0e0f040f080f0c0f020f060f0a0f0e0f040f"
     "080f0c0f0211060f0a0f0e0f040f080f0c0f020f060f0a0f0e0f040f080f0c0f020f060f0a0f0e0f040f080f"
     "0c0f020f060f0a0f0e0f040f080f0c0f020f060f0a110e0f040f080f0c0f020f060f0a0f0e0f040f080f0c0f"
     "020f060f0a0f0e0f040f080f0c0f020f060f0a0f0e0f040f080f0c0f020f060f0a0f0e0f0411080f0c0f020f"
     "060f0a0f0e0f040f080f0c0f020f060f0a0f0e0f040f080f0c0f020f060f0a0f0e0f040f080f0c0d02050607"
     "0a050e07040508070c07020506070a050e07040508070c05020706050a070e05040708050c07020506070a05"
     "0e07040508070c05020706050a070e05040708050c07020506070a070e05040708050c07020506"},
    {"wide", "HISTFAAAAC14nJNpmSzMwMAgyAABzFCa0f4/BNh/gAjw/dVn2vyWsQEEHI4vYmEBAHwPENE=",
     "1c84931300000011000000000000000300000000000000013fffffffffffffff3ff00000000000000efd2f02"
     "b3ed01808080808040c7a20404"},
}};

// The values behind them, in the order of the script.
std::array<Histogram, 4> samples() {
  std::array<Histogram, 4> made;
  made[1].record(1);
  made[1].record(2, 3);
  made[1].record(1000, 5);
  for (std::uint64_t value = 1; value <= 10'000; value += 37) {
    made[2].record(value * 1000, 1 + value % 7);
  }
  made[3].record(0, 7);
  made[3].record(4096);
  made[3].record(123'456'789, std::uint64_t{1} << 40);
  made[3].record((std::uint64_t{1} << 61) + 12345, 2);
  return made;
}

std::vector<std::uint64_t> counts_of(const Histogram& histogram) {
  return decode_v2_payload(unwrap_v2(histogram.encode_v2()).value()).value();
}

TEST(HistogramV2, OurCountsAreTheBytesOfTheOutsideEncoder) {
  const auto made = samples();
  for (std::size_t i = 0; i < made.size(); ++i) {
    const auto payload = unwrap_v2(made[i].encode_v2());
    ASSERT_TRUE(payload) << kOutside[i].name;
    EXPECT_EQ(to_hex(*payload), kOutside[i].payload_hex) << kOutside[i].name;
  }
}

TEST(HistogramV2, ReadsTheTextOfTheOutsideEncoder) {
  const auto made = samples();
  for (std::size_t i = 0; i < made.size(); ++i) {
    const auto read = Histogram::decode_v2(kOutside[i].text);
    ASSERT_TRUE(read) << kOutside[i].name << ": " << to_string(read.error());
    EXPECT_EQ(read->count(), made[i].count()) << kOutside[i].name;
    EXPECT_EQ(counts_of(*read), counts_of(made[i])) << kOutside[i].name;
    for (const double fraction : {0.0, 0.5, 0.9, 0.99}) {
      EXPECT_EQ(cells::index_of(read->quantile(fraction)),
                cells::index_of(made[i].quantile(fraction)))
          << kOutside[i].name << " at " << fraction;
    }
    EXPECT_NEAR(read->mean(), made[i].mean(), made[i].mean() / 1000) << kOutside[i].name;
  }
}

TEST(HistogramV2, RandomHistogramsComeBackCellByCell) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Rng rng(seed);
    Histogram histogram;
    for (int i = 0; i < 2000; ++i) {
      histogram.record(rng.next() >> (1 + rng.below(63)), 1 + (rng.next() >> (20 + rng.below(44))));
    }
    const auto back = Histogram::decode_v2(histogram.encode_v2());
    ASSERT_TRUE(back);
    EXPECT_EQ(back->count(), histogram.count());
    EXPECT_EQ(counts_of(*back), counts_of(histogram));
  }
}

TEST(HistogramV2, WhatItCannotHoldFallsIntoItsLastCell) {
  Histogram histogram;
  histogram.record(~std::uint64_t{0}, 2);
  histogram.record(~std::uint64_t{0} >> 1);
  const auto back = Histogram::decode_v2(histogram.encode_v2());
  ASSERT_TRUE(back);
  EXPECT_EQ(back->count(), 3U);
  EXPECT_EQ(back->max(), ~std::uint64_t{0} >> 1);
}

TEST(HistogramV2, EachDamageHasItsError) {
  const std::string good = kOutside[2].text;
  EXPECT_EQ(Histogram::decode_v2("").error().code, Errc::kCorrupt);
  EXPECT_EQ(Histogram::decode_v2("!!!!").error().code, Errc::kCorrupt);
  EXPECT_EQ(Histogram::decode_v2(good.substr(4)).error().code, Errc::kVersion);
  EXPECT_EQ(Histogram::decode_v2(good.substr(0, good.size() - 8)).error().code, Errc::kCorrupt);
  std::string flipped = good;
  flipped[100] = flipped[100] == 'A' ? 'B' : 'A';
  EXPECT_FALSE(Histogram::decode_v2(flipped));
}

// The header's fields, one after another.
TEST(HistogramV2, AnotherLayoutIsUnsupportedAndATornPayloadCorrupt) {
  const auto good = unwrap_v2(kOutside[1].text).value();
  ASSERT_TRUE(decode_v2_payload(good));
  const auto with = [&good](std::size_t at, std::byte value) {
    auto bytes = good;
    bytes[at] = value;
    return decode_v2_payload(bytes).error().code;
  };
  EXPECT_EQ(with(3, std::byte{0x01}), Errc::kVersion);
  EXPECT_EQ(with(7, std::byte{9}), Errc::kCorrupt);
  EXPECT_EQ(with(11, std::byte{1}), Errc::kUnsupported);
  EXPECT_EQ(with(15, std::byte{2}), Errc::kUnsupported);
  EXPECT_EQ(with(23, std::byte{2}), Errc::kUnsupported);
  EXPECT_EQ(with(33, std::byte{0}), Errc::kUnsupported);
  EXPECT_EQ(with(good.size() - 1, std::byte{0x80}), Errc::kCorrupt);
  for (std::size_t size = 0; size < good.size(); ++size) {
    EXPECT_FALSE(decode_v2_payload(std::span(good).first(size))) << size;
  }
}

TEST(HistogramV2, CountsThatDoNotFitAreRefused) {
  auto bytes = encode_v2_payload({});
  const auto with_body = [&bytes](std::initializer_list<unsigned> body) {
    auto whole = bytes;
    for (const unsigned byte : body) whole.push_back(static_cast<std::byte>(byte));
    whole[7] = static_cast<std::byte>(body.size());
    return decode_v2_payload(whole).error().code;
  };
  // A run of 2^62 empty cells; the smallest number; three counts of 2^63 - 1.
  EXPECT_EQ(with_body({0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f}), Errc::kCorrupt);
  EXPECT_EQ(with_body({0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}), Errc::kCorrupt);
  EXPECT_EQ(with_body({0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,  //
                       0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,  //
                       0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}),
            Errc::kCorrupt);
}

}  // namespace
}  // namespace forebay::telemetry
