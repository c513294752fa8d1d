#include "store/tier/flash_summary.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <deque>
#include <string>

#include "core/crc32c.h"
#include "core/rng.h"

namespace forebay::store {
namespace {

constexpr std::uint32_t kSegmentPages = 4096;
constexpr std::uint32_t kPageBytes = 4096;

BlockId number_id(std::uint64_t number) { return make_block_id({"t", "l"}, bytes_of(number)); }

struct Filled {
  SegmentRecords records;
  std::vector<RecordFacts> facts;  // of those that stand
  std::vector<std::uint32_t> pages;
  std::deque<std::string> names;
};

// Records with parents inside the segment, outside of it, and none; some of them failed.
void fill(Filled& filled, std::uint64_t seed, std::size_t count) {
  Rng rng(seed);
  std::uint32_t page = 1;
  for (std::size_t i = 0; i < count; ++i) {
    RecordFacts facts;
    facts.id = number_id(i);
    const std::uint64_t dice = rng.below(4);
    if (dice == 1 && i > 0) facts.parent = number_id(rng.below(i));
    if (dice == 2) facts.parent = number_id(1'000'000 + rng.below(5));
    if (dice == 3 && i > 0) facts.parent = number_id(i - 1);
    facts.tenant = filled.names.emplace_back("tenant" + std::to_string(rng.below(3)));
    facts.layout_fingerprint = filled.names.emplace_back("layout" + std::to_string(rng.below(3)));
    facts.data_bytes = static_cast<std::uint32_t>(rng.below(20'000));
    facts.token_count = static_cast<std::uint32_t>(rng.below(100));
    facts.chain_depth = static_cast<std::uint32_t>(i);
    facts.heat = static_cast<std::uint32_t>(rng.next());
    const bool good = rng.chance(0.8);
    filled.records.add(facts, page, good ? RecordState::kGood : RecordState::kFailed);
    if (good) {
      filled.facts.push_back(facts);
      filled.pages.push_back(page);
    }
    page += 1 + static_cast<std::uint32_t>(divide_up(facts.data_bytes, kPageBytes));
  }
}

TEST(FlashSummary, SaysWhatStandsInTheSegment) {
  EXPECT_TRUE(rc::check([] {
    Filled filled;
    fill(filled, *rc::gen::arbitrary<std::uint64_t>(), *rc::gen::inRange<std::size_t>(0, 200));
    filled.records.add_tombstone({number_id(5), 3, 77, 0});
    std::vector<std::byte> body;
    const SummaryCounts counts = encode_summary_body(filled.records, kSegmentPages, body);
    RC_ASSERT(body.size() <= summary_bytes_max(filled.records));
    const auto view = SummaryView::parse(counts, body, kSegmentPages, kPageBytes).value();
    RC_ASSERT(view.record_count() == filled.facts.size());
    for (std::uint32_t i = 0; i < view.record_count(); ++i) {
      const SummaryEntry entry = view.entry(i);
      const RecordFacts facts = view.facts(entry);
      const RecordFacts& expected = filled.facts[i];
      RC_ASSERT(entry.page == filled.pages[i]);
      RC_ASSERT(facts.id == expected.id);
      RC_ASSERT(facts.parent == expected.parent);
      RC_ASSERT(facts.tenant == expected.tenant);
      RC_ASSERT(facts.layout_fingerprint == expected.layout_fingerprint);
      RC_ASSERT(facts.data_bytes == expected.data_bytes);
      RC_ASSERT(facts.token_count == expected.token_count);
      RC_ASSERT(facts.chain_depth == expected.chain_depth);
      RC_ASSERT(facts.heat == expected.heat);
    }
    RC_ASSERT(view.tombstone_count() == 1U);
    RC_ASSERT(view.tombstone(0).id == number_id(5));
    RC_ASSERT(view.tombstone(0).page == 77U);
  }));
}

TEST(FlashSummary, LeavesOutWhatStandsBehindTheGivenPage) {
  Filled filled;
  fill(filled, 3, 50);
  const std::uint32_t end = filled.pages[20];
  std::vector<std::byte> body;
  const SummaryCounts counts = encode_summary_body(filled.records, end, body);
  EXPECT_EQ(counts.record_count, 20U);
}

TEST(FlashSummary, TakesSixtyBytesARecordInAChain) {
  SegmentRecords records;
  for (std::uint32_t i = 0; i < 1000; ++i) {
    RecordFacts facts;
    facts.id = number_id(i);
    facts.parent = i == 0 ? kNoParent : number_id(i - 1);
    facts.data_bytes = 4096;
    records.add(facts, 1 + 2 * i, RecordState::kGood);
  }
  std::vector<std::byte> body;
  (void)encode_summary_body(records, kSegmentPages, body);
  EXPECT_LE(body.size(), 1000U * 60 + 16);
}

TEST(FlashSummary, BelievesNoFlippedByte) {
  Filled filled;
  fill(filled, 9, 20);
  std::vector<std::byte> body;
  const SummaryCounts counts = encode_summary_body(filled.records, kSegmentPages, body);
  for (std::size_t i = 0; i < body.size(); ++i) {
    std::vector<std::byte> bad = body;
    bad[i] ^= std::byte{0x10};
    EXPECT_EQ(SummaryView::parse(counts, bad, kSegmentPages, kPageBytes).error().code,
              Errc::kCorrupt);
  }
  EXPECT_FALSE(SummaryView::parse(counts, std::span(body).first(body.size() - 1), kSegmentPages,
                                  kPageBytes));
}

// A body whose CRC is right but whose contents are not: made by something that is not us.
SummaryCounts recount(SummaryCounts counts, std::span<const std::byte> body) {
  counts.body_crc = crc32c(body);
  return counts;
}

TEST(FlashSummary, BelievesNoEntryThatPointsOutsideOrOverlaps) {
  Filled filled;
  fill(filled, 9, 20);
  std::vector<std::byte> body;
  const SummaryCounts counts = encode_summary_body(filled.records, kSegmentPages, body);
  const auto with = [&](auto change) {
    std::vector<std::byte> bad = body;
    auto entry = load_as<SummaryEntry>(std::span(bad).subspan(sizeof(SummaryEntry)));
    change(entry);
    store_as(std::span(bad).subspan(sizeof(SummaryEntry)), entry);
    return SummaryView::parse(recount(counts, bad), bad, kSegmentPages, kPageBytes).has_value();
  };
  EXPECT_TRUE(with([](SummaryEntry&) {}));
  EXPECT_FALSE(with([](SummaryEntry& e) { e.page = kSegmentPages; }));
  EXPECT_FALSE(with([](SummaryEntry& e) { e.page = 0; }));
  EXPECT_FALSE(with([](SummaryEntry& e) { e.data_bytes = ~0U; }));
  EXPECT_FALSE(with([](SummaryEntry& e) { e.space = 999; }));
  EXPECT_FALSE(with([](SummaryEntry& e) { e.parent = 7; }));  // a later entry
  EXPECT_FALSE(with([](SummaryEntry& e) { e.parent = kForeignParent | 999; }));
}

TEST(FlashSummary, LengthsThatContradictEachOtherAreRefused) {
  Filled filled;
  fill(filled, 9, 20);
  std::vector<std::byte> body;
  const SummaryCounts counts = encode_summary_body(filled.records, kSegmentPages, body);
  for (std::uint32_t SummaryCounts::* field :
       {&SummaryCounts::record_count, &SummaryCounts::tombstone_count, &SummaryCounts::parent_count,
        &SummaryCounts::space_count, &SummaryCounts::space_bytes}) {
    SummaryCounts bad = counts;
    bad.*field += 1;
    EXPECT_FALSE(SummaryView::parse(bad, body, kSegmentPages, kPageBytes));
    bad.*field = ~0U;
    EXPECT_FALSE(SummaryView::parse(bad, body, kSegmentPages, kPageBytes));
  }
}

}  // namespace
}  // namespace forebay::store
