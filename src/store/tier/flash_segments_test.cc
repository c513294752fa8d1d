#include "store/tier/flash_segments.h"

#include <gtest/gtest.h>

#include <map>

#include "core/bytes.h"
#include "store/tier/flash_victim.h"

namespace forebay::store {
namespace {

FlashLayout test_layout() { return make_flash_layout(64 * kMiB, 4096, 1 * kMiB).value(); }

BlockId number_id(std::uint64_t number) { return make_block_id({}, bytes_of(number)); }

TEST(SegmentTable, OpensTheSegmentThatWasFreeTheLongest) {
  const FlashLayout layout = test_layout();
  SegmentTable table(layout, 1);
  EXPECT_EQ(table.free_count(), layout.segment_count);
  const std::uint32_t first = *table.open_next();
  table.close_open();
  const std::uint32_t second = *table.open_next();
  EXPECT_NE(first, second);
  EXPECT_EQ(table.at(second).sequence, table.at(first).sequence + 1);
  table.close_open();
  table.set_state(first, SegmentState::kFree);
  // Every other segment was never used, so `first` is the last to be used again.
  for (std::uint32_t i = 2; i < layout.segment_count; ++i) {
    EXPECT_NE(*table.open_next(), first);
    table.close_open();
  }
  EXPECT_EQ(*table.open_next(), first);
  table.close_open();
  EXPECT_FALSE(table.open_next());
}

TEST(SegmentTable, APinnedSegmentIsNotOpened) {
  const FlashLayout layout = test_layout();
  SegmentTable table(layout, 1);
  for (std::uint32_t i = 1; i < layout.segment_count; ++i) table.pin(i);
  EXPECT_EQ(*table.open_next(), 0U);
  table.close_open();
  EXPECT_FALSE(table.open_next());
}

TEST(SegmentTable, TellsWhenTheLastReaderOfAnEmptiedSegmentLeft) {
  const FlashLayout layout = test_layout();
  SegmentTable table(layout, 1);
  int calls = 0;
  table.on_unpinned([&calls] { ++calls; });
  table.pin(3);
  table.pin(3);
  table.set_state(3, SegmentState::kEmptied);
  table.unpin(3);
  EXPECT_EQ(calls, 0);
  table.unpin(3);
  EXPECT_EQ(calls, 1);
}

TEST(SegmentTable, CountsLivePagesHeadersIncluded) {
  const FlashLayout layout = test_layout();
  SegmentTable table(layout, 1);
  const FlashPage page = layout.segment_page(2) + 1;
  table.add_live(page, 10'000, number_id(1));
  table.add_live(page + 4, 0, number_id(2));
  EXPECT_EQ(table.at(2).live_pages, 5U);
  table.drop_live(page, 10'000);
  EXPECT_EQ(table.at(2).live_pages, 1U);
  table.clear_live(2);
  EXPECT_EQ(table.live_pages(), 0U);
}

TEST(SegmentTable, SamplesEveryRecordOfASegmentEquallyOften) {
  const FlashLayout layout = test_layout();
  std::map<FlashPage, int> times;
  constexpr int kRounds = 2000;
  constexpr std::uint32_t kRecords = 64;
  for (std::uint64_t seed = 0; seed < kRounds; ++seed) {
    SegmentTable table(layout, seed);
    for (std::uint32_t i = 0; i < kRecords; ++i) {
      table.add_live(layout.segment_page(0) + 1 + 2 * i, 4096, number_id(i));
    }
    for (const Segment::Sample& sample : table.at(0).sampled()) ++times[sample.page];
  }
  // Each is expected kRounds / 4 = 500 times, with a standard deviation of 19.
  EXPECT_EQ(times.size(), kRecords);
  for (const auto& [page, count] : times) EXPECT_NEAR(count, 500, 100) << page;
}

VictimCost cost_of(const VictimTerms& terms, double live, double age,
                   std::vector<SampledWorth> samples) {
  VictimFacts facts;
  facts.live_fraction = live;
  facts.age = age;
  facts.samples = samples;
  return terms.cost_of(facts);
}

TEST(Victim, AnEmptySegmentCostsNothing) {
  const VictimTerms terms(0.25);
  EXPECT_EQ(cost_of(terms, 0, 0.5, {{10, false, 0}}).cost, 0);
  EXPECT_EQ(cost_of(terms, 0, 0.5, {}).cost, 0);
}

TEST(Victim, CostsWhatIsLostPerByteOfRoom) {
  const VictimTerms terms(0.25);
  const std::vector<SampledWorth> all_live{
      {10, true, 1}, {10, true, 1}, {10, true, 1}, {10, true, 1}};
  const std::vector<SampledWorth> quarter{
      {10, true, 1}, {10, false, 0}, {10, false, 0}, {10, false, 0}};
  // All alive: a quarter may move, three quarters are lost for three quarters of room.
  EXPECT_NEAR(cost_of(terms, 1, 0, all_live).cost, 1.0, 1e-9);
  EXPECT_NEAR(cost_of(terms, 0.25, 0, quarter).cost, 0, 1e-9);
  EXPECT_TRUE(cost_of(terms, 0.25, 0, quarter).better_than(cost_of(terms, 1, 0, all_live)));
}

TEST(Victim, TheBestRecordsAreTheOnesThatMove) {
  const VictimTerms terms(0.25);
  const std::vector<SampledWorth> uneven{
      {10, true, 1}, {10, true, 100}, {10, true, 1}, {10, true, 1}};
  EXPECT_NEAR(cost_of(terms, 1, 0, uneven).cost, 1.0, 1e-9);
}

TEST(Victim, WhenRoomIsDearOnlyBetterRecordsMove) {
  VictimTerms terms(0.25);
  // A full device of equal blocks: each byte of room takes a byte worth 1.
  for (int i = 0; i < 40; ++i) terms.learn(100, 100);
  EXPECT_NEAR(terms.marginal(), 1.0, 1e-3);
  EXPECT_FALSE(terms.worth_moving(1.0));
  EXPECT_FALSE(terms.worth_moving(2.0));
  EXPECT_TRUE(terms.worth_moving(5.0));
  // Then segments come that are mostly dead: room is cheap, and what lives in them is kept.
  for (int i = 0; i < 40; ++i) terms.learn(20, 100);
  EXPECT_TRUE(terms.worth_moving(1.0));
}

TEST(Victim, OfEqualSegmentsTheOlderGoes) {
  const VictimTerms terms(0.0);
  const std::vector<SampledWorth> some{{10, true, 1}, {10, false, 0}};
  EXPECT_TRUE(cost_of(terms, 0.5, 1.0, some).better_than(cost_of(terms, 0.5, 0.1, some)));
  VictimCost older;
  older.sequence = 5;
  VictimCost newer;
  newer.sequence = 6;
  EXPECT_TRUE(older.better_than(newer));
}

}  // namespace
}  // namespace forebay::store
