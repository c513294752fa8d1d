// verify(): says which block is damaged, where, and why; online, beside a workload.
#include <gtest/gtest.h>

#include <functional>

#include "store/tier/flash_layout.h"
#include "store/tier/flash_rig.h"

namespace forebay::store {
namespace {

FlashTier::VerifyResult verify(FlashRig& rig, std::size_t findings_max = 100) {
  return rig.loop->run(rig.tier->verify(findings_max, {})).value();
}

std::uint64_t offset_of(FlashRig& rig, std::uint64_t number) {
  return std::uint64_t{rig.owner->known[rig_id(number)].page} * 4096;
}

TEST(FlashVerify, AGoodStoreHasNoFindings) {
  FlashRig rig;
  ASSERT_TRUE(rig.open());
  (void)rig.append(1, 60, 16384);
  const auto result = verify(rig);
  EXPECT_EQ(result.records, 60U);
  EXPECT_EQ(result.bytes, 60U * 16384);
  EXPECT_EQ(result.bad, 0U);
}

TEST(FlashVerify, NamesTheBlockThePlaceAndTheReason) {
  FlashRig rig;
  ASSERT_TRUE(rig.open());
  (void)rig.append(1, 60, 16384);
  rig.drain();
  const std::uint64_t header = offset_of(rig, 7);
  const std::uint64_t data = offset_of(rig, 40);
  rig.file().corrupt(header + 70, std::byte{1});
  rig.file().corrupt(data + 4096 + 16383, std::byte{1});
  const auto result = verify(rig);
  EXPECT_EQ(result.records, 60U);
  EXPECT_EQ(result.bad, 2U);
  ASSERT_EQ(result.findings.size(), 2U);
  EXPECT_EQ(result.findings[0].id, rig_id(7));
  EXPECT_EQ(result.findings[0].offset_bytes, header);
  EXPECT_NE(result.findings[0].reason.find("header"), std::string::npos);
  EXPECT_EQ(result.findings[1].id, rig_id(40));
  EXPECT_EQ(result.findings[1].offset_bytes, data);
  EXPECT_NE(result.findings[1].reason.find("checksum"), std::string::npos);
  EXPECT_EQ(verify(rig, 1).findings.size(), 1U) << "the list is bounded, the count is not";
  EXPECT_EQ(verify(rig, 1).bad, 2U);
}

TEST(FlashVerify, UnreadableBytesAreFindingsToo) {
  FlashRig rig;
  ASSERT_TRUE(rig.open());
  (void)rig.append(1, 3, 16384);
  const std::uint64_t at = offset_of(rig, 2);
  rig.engine->faults().add({.kind = io::FaultKind::kIoError,
                            .op = io::OpKind::kRead,
                            .offset_first = at - 40'000,
                            .offset_last = at + 40'000});
  const auto result = verify(rig);
  EXPECT_EQ(result.records, 3U);
  EXPECT_GE(result.bad, 1U);
}

Task<void> verify_beside(FlashRig* rig, FlashTier::VerifyResult* result, bool* done) {
  *result = (co_await rig->tier->verify(100, {})).value();
  *done = true;
}

// Segments are reclaimed and written again under the walk: only what is damaged is a finding.
TEST(FlashVerify, BesideAppendsReadsAndReclaimItFindsWhatIsDamagedAndNothingElse) {
  for (std::uint64_t seed = 1; seed <= 20 && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    FlashRig rig({.device_bytes = 8 << 20, .seed = seed});
    ASSERT_TRUE(rig.open());
    for (std::uint64_t n = 1; n <= 600; n += 4) (void)rig.append(n, 4, 16384);
    for (std::uint64_t n = 1; n <= 600; ++n) rig.owner->worths[rig_id(n)] = 0;
    constexpr std::uint64_t kWorthy = 5000;  // reclaim leaves it where it is
    rig.owner->worths[rig_id(kWorthy)] = 1000;
    (void)rig.append(kWorthy, 1, 16384);
    rig.drain();
    const bool damaged = seed % 2 == 0;
    if (damaged) rig.file().corrupt(offset_of(rig, kWorthy) + 5000, std::byte{1});
    FlashTier::VerifyResult result;
    bool done = false;
    const std::uint64_t before = rig.owner->dropped_ids.size();
    rig.loop->spawn(verify_beside(&rig, &result, &done));
    std::uint64_t first = 10'000;
    for (; !done && first < 20'000; first += 4) {
      (void)rig.append(first, 4, 16384);
      EXPECT_EQ(rig.read({first, first + 3}).wrong, 0U);
    }
    ASSERT_TRUE(done);
    EXPECT_GT(rig.owner->dropped_ids.size(), before);  // or nothing was reclaimed meanwhile
    EXPECT_EQ(result.bad, damaged ? 1U : 0U);
    if (damaged) EXPECT_EQ(result.findings.at(0).id, rig_id(kWorthy));
  }
}

TEST(FlashVerify, BlocksThatNobodyWantsAreNotJudged) {
  FlashRig rig;
  ASSERT_TRUE(rig.open());
  (void)rig.append(1, 10, 16384);
  rig.file().corrupt(offset_of(rig, 3) + 5000, std::byte{1});
  rig.owner->known.erase(rig_id(3));
  const auto result = verify(rig);
  EXPECT_EQ(result.records, 9U);
  EXPECT_EQ(result.bad, 0U);
}

// Of the segment of block 1. Segments have 64 KiB: the summary's body is the page before the last.
std::uint64_t first_summary_offset(FlashRig& rig) {
  const FlashPage page = rig.owner->known[rig_id(1)].page;
  const auto layout = make_flash_layout(4 << 20, 4096, 64 << 10).value();
  return layout.offset_of(layout.segment_page(layout.segment_of(page))) + layout.segment_bytes -
         2 * 4096;
}

TEST(FlashVerify, ADamagedSummaryIsAFindingOfItsOwn) {
  FlashRig rig;
  ASSERT_TRUE(rig.open());
  (void)rig.append(1, 60, 16384);
  rig.drain();
  rig.file().corrupt(first_summary_offset(rig) + 5, std::byte{1});
  const auto result = verify(rig);
  ASSERT_EQ(result.findings.size(), 1U);
  EXPECT_NE(result.findings[0].reason.find("summary"), std::string::npos);
}

// What a writable open would repair on its way stays as it is, and is told.
TEST(FlashVerify, WhatAWritableOpenRepairsIsAFindingWhereItMayNot) {
  FlashRig rig;
  ASSERT_TRUE(rig.open());
  (void)rig.append(1, 60, 16384);
  rig.drain();
  const std::uint64_t summary = first_summary_offset(rig);
  rig.power_off();
  rig.file().corrupt(kSuperblockOffsets[1] + 16, std::byte{1});
  rig.file().corrupt(summary + 5, std::byte{1});
  const std::uint64_t writes = rig.writes_started();
  rig.options().read_only = true;
  rig.power_on();
  ASSERT_TRUE(rig.open());
  const auto result = verify(rig);
  EXPECT_EQ(result.records, 60U);
  EXPECT_EQ(result.bad, 2U);
  ASSERT_EQ(result.findings.size(), 2U);
  for (const auto& finding : result.findings) EXPECT_EQ(finding.id, BlockId{});
  EXPECT_EQ(result.findings[0].offset_bytes, summary);
  EXPECT_NE(result.findings[0].reason.find("summary"), std::string::npos);
  EXPECT_EQ(result.findings[1].offset_bytes, kSuperblockOffsets[1]);
  EXPECT_NE(result.findings[1].reason.find("superblock copy 2"), std::string::npos);
  ASSERT_TRUE(rig.loop->run(rig.tier->close()));
  EXPECT_EQ(rig.writes_started(), writes);
  rig.power_off();
  rig.options().read_only = false;
  rig.power_on();
  ASSERT_TRUE(rig.open());
  rig.drain();
  EXPECT_EQ(verify(rig).bad, 0U) << "both were repaired";
}

// A closed store of 60 blocks, opened for reading after `damage`.
FlashTier::VerifyResult verify_damaged(
    const std::function<void(FlashRig&, std::uint64_t footer)>& damage) {
  FlashRig rig;
  EXPECT_TRUE(rig.open());
  (void)rig.append(1, 60, 16384);
  rig.drain();
  const std::uint64_t footer = first_summary_offset(rig) + 4096;
  EXPECT_TRUE(rig.loop->run(rig.tier->close()));
  rig.power_off();
  damage(rig, footer);
  rig.options().read_only = true;
  rig.power_on();
  EXPECT_TRUE(rig.open());
  return verify(rig);
}

TEST(FlashVerify, ADamagedFooterIsAFinding) {
  std::uint64_t at = 0;
  const auto result = verify_damaged([&at](FlashRig& rig, std::uint64_t footer) {
    at = footer;
    rig.file().corrupt(footer + 40, std::byte{1});
  });
  EXPECT_EQ(result.records, 60U);
  EXPECT_EQ(result.bad, 1U);
  ASSERT_EQ(result.findings.size(), 1U);
  EXPECT_EQ(result.findings[0].offset_bytes, at);
  EXPECT_NE(result.findings[0].reason.find("footer checksum"), std::string::npos);
}

TEST(FlashVerify, AFooterOfWhichNothingIsLeftIsAFinding) {
  const auto result = verify_damaged([](FlashRig& rig, std::uint64_t footer) {
    for (std::uint64_t i = 0; i < 4096; ++i) rig.file().corrupt(footer + i, std::byte{0xff});
  });
  EXPECT_EQ(result.records, 60U);
  EXPECT_EQ(result.bad, 1U);
}

// Of the block nothing is left that could name it: the summary's finding says that it may be gone.
TEST(FlashVerify, ABlockLostWithItsFooterDoesNotMakeAGoodStore) {
  const auto result = verify_damaged([](FlashRig& rig, std::uint64_t footer) {
    rig.file().corrupt(footer + 40, std::byte{1});
    rig.file().corrupt(offset_of(rig, 1) + 70, std::byte{1});
  });
  EXPECT_EQ(result.records, 59U);
  ASSERT_EQ(result.findings.size(), 1U);
  EXPECT_NE(result.findings[0].reason.find("absent"), std::string::npos);
}

TEST(FlashVerify, EndsAtItsDeadline) {
  FlashRig rig;
  ASSERT_TRUE(rig.open());
  (void)rig.append(1, 60, 16384);
  rig.engine->faults().add({.kind = io::FaultKind::kStuck, .op = io::OpKind::kRead});
  const Nanos deadline = rig.loop->now() + std::chrono::milliseconds(5);
  const auto result = rig.loop->run(rig.tier->verify(10, {.io = {.deadline = deadline}}));
  EXPECT_EQ(result.error().code, Errc::kTimedOut);
  EXPECT_EQ(rig.loop->now(), deadline);
}

TEST(FlashVerify, CanBeCancelled) {
  FlashRig rig;
  ASSERT_TRUE(rig.open());
  (void)rig.append(1, 60, 16384);
  CancelSource cancel;
  io::Loop::Timer timer;
  rig.loop->arm(timer, rig.loop->now() + std::chrono::microseconds(300), [&] { cancel.cancel(); });
  EXPECT_EQ(rig.loop->run(rig.tier->verify(10, {.cancel = &cancel})).error().code,
            Errc::kCancelled);
}

}  // namespace
}  // namespace forebay::store
