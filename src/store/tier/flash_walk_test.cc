#include "store/tier/flash_walk.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <vector>

#include "core/crc32c.h"
#include "core/rng.h"

namespace forebay::store {
namespace {

constexpr std::uint32_t kPageBytes = 4096;
constexpr FlashPage kSegmentPage = 5000;

// A segment's bytes, and what a walk over them must find.
struct Image {
  std::vector<std::byte> bytes;  // from page 1 on
  std::vector<std::uint32_t> good_pages;
  std::vector<std::uint32_t> bad_pages;

  void add_garbage(Rng& rng, std::uint32_t pages) {
    for (std::size_t i = 0; i < std::size_t{pages} * kPageBytes / 8; ++i) {
      const std::uint64_t word = rng.next();
      const auto* at = reinterpret_cast<const std::byte*>(&word);
      bytes.insert(bytes.end(), at, at + 8);
    }
  }
  void add_record(Rng& rng, std::uint64_t sequence, bool data_good) {
    const auto page = static_cast<std::uint32_t>(1 + bytes.size() / kPageBytes);
    std::vector<std::byte> data(rng.below(20'000));
    for (std::byte& byte : data) byte = static_cast<std::byte>(rng.next());
    RecordFacts facts;
    facts.id = make_block_id({"t", "l"}, bytes_of(page));
    facts.data_bytes = static_cast<std::uint32_t>(data.size());
    RecordPlace place;
    place.sequence = sequence;
    place.page = kSegmentPage + page;
    place.data_crc = crc32c(data) ^ (data_good ? 0U : 1U);
    std::vector<std::byte> header(kPageBytes);
    encode_record_header(place, facts, header);
    bytes.insert(bytes.end(), header.begin(), header.end());
    bytes.insert(bytes.end(), data.begin(), data.end());
    bytes.resize(round_up(bytes.size(), kPageBytes));
    if (sequence == 7) (data_good ? good_pages : bad_pages).push_back(page);
  }
};

SegmentWalker::Start start_of(const Image& image) {
  SegmentWalker::Start start;
  start.segment_page = kSegmentPage;
  start.segment_pages = static_cast<std::uint32_t>(1 + image.bytes.size() / kPageBytes);
  start.page_bytes = kPageBytes;
  start.sequence = 7;
  return start;
}

TEST(SegmentWalker, FindsTheGoodRecordsAmongAnyBytesInPiecesOfAnySize) {
  EXPECT_TRUE(rc::check([] {
    Rng rng(*rc::gen::arbitrary<std::uint64_t>());
    Image image;
    for (int i = 0; i < 20; ++i) {
      const std::uint64_t dice = rng.below(5);
      if (dice == 0) image.add_garbage(rng, static_cast<std::uint32_t>(1 + rng.below(4)));
      if (dice == 1) image.add_record(rng, 7, false);
      if (dice == 2) image.add_record(rng, 6, true);  // of an earlier life of the segment
      if (dice > 2) image.add_record(rng, 7, true);
    }
    std::vector<std::uint32_t> good;
    std::vector<std::uint32_t> bad;
    SegmentWalker walker(start_of(image), [&](const SegmentWalker::Seen& seen) {
      (seen.data_good ? good : bad).push_back(seen.page);
      RC_ASSERT(seen.record.facts.id == make_block_id({"t", "l"}, bytes_of(seen.page)));
    });
    for (std::size_t at = 0; at < image.bytes.size();) {
      const std::size_t bytes =
          std::min(image.bytes.size() - at, (1 + rng.below(5)) * std::size_t{kPageBytes});
      walker.feed(std::span(image.bytes).subspan(at, bytes));
      at += bytes;
    }
    RC_ASSERT(good == image.good_pages);
    RC_ASSERT(bad == image.bad_pages);
    RC_ASSERT(walker.finished());
  }));
}

TEST(SegmentWalker, LearnsTheGenerationFromTheFirstRecordThatProvesItself) {
  Rng rng(5);
  Image image;
  image.add_garbage(rng, 3);
  image.add_record(rng, 7, true);
  image.add_record(rng, 6, true);
  SegmentWalker::Start start = start_of(image);
  start.sequence.reset();
  std::size_t seen = 0;
  SegmentWalker walker(start, [&seen](const SegmentWalker::Seen&) { ++seen; });
  walker.feed(image.bytes);
  EXPECT_EQ(walker.sequence(), 7U);
  EXPECT_EQ(seen, 1U);
}

TEST(SegmentWalker, StopsWhenNothingProvesItselfForLongerThanAWriterLeavesGaps) {
  SegmentWalker::Start start;
  start.segment_page = kSegmentPage;
  start.segment_pages = 1 << 20;
  start.page_bytes = kPageBytes;
  start.sequence = 7;
  const std::vector<std::byte> zeroes(1 << 20);
  std::uint64_t fed = 0;
  SegmentWalker walker(start, [](const SegmentWalker::Seen&) { FAIL(); });
  while (!walker.finished()) {
    walker.feed(zeroes);
    fed += zeroes.size();
  }
  EXPECT_GE(fed, kRecordBytesMax);
  EXPECT_LE(fed, kRecordBytesMax + 2 * zeroes.size());
  start.to_the_end = true;
  SegmentWalker verifier(start, [](const SegmentWalker::Seen&) { FAIL(); });
  for (std::uint64_t i = 0; i <= fed; i += zeroes.size()) verifier.feed(zeroes);
  EXPECT_FALSE(verifier.finished());
}

TEST(SegmentWalker, ARecordThatRunsBeyondTheSegmentIsNone) {
  Rng rng(5);
  Image image;
  image.add_record(rng, 7, true);
  SegmentWalker::Start start = start_of(image);
  start.segment_pages = 2;
  bool seen = false;
  SegmentWalker walker(start, [&seen](const SegmentWalker::Seen&) { seen = true; });
  walker.feed(image.bytes);
  EXPECT_EQ(seen, load_as<RecordHeader>(image.bytes).data_bytes == 0);
}

}  // namespace
}  // namespace forebay::store
