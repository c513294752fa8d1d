// Reads: what they prove, when they end, and whose memory they hold.
#include <gtest/gtest.h>

#include <numeric>

#include "store/tier/flash_rig.h"

namespace forebay::store {
namespace {

using std::chrono::milliseconds;

std::vector<std::uint64_t> numbers(std::uint64_t first, std::size_t count) {
  std::vector<std::uint64_t> all(count);
  std::iota(all.begin(), all.end(), first);
  return all;
}

Errc code_of(const Status& status) { return status ? Errc{} : status.error().code; }

FlashCall until(FlashRig& rig, Nanos span) {
  FlashCall call;
  call.io.deadline = rig.loop->now() + span;
  return call;
}

std::uint64_t offset_of(FlashRig& rig, std::uint64_t number) {
  return std::uint64_t{rig.owner->known[rig_id(number)].page} * 4096;
}

TEST(FlashRead, NoFlippedByteOfARecordIsServed) {
  FlashRig rig;
  ASSERT_TRUE(rig.open());
  ASSERT_TRUE(rig.append(1, 1, 5000)[0]);
  const std::uint64_t header = offset_of(rig, 1);
  // Header fields and names, then the data to its last byte.
  std::vector<std::uint64_t> offsets;
  for (std::uint64_t i = 0; i < 150; i += 3) offsets.push_back(header + i);
  for (std::uint64_t i = 0; i < 5000; i += 97) offsets.push_back(header + 4096 + i);
  offsets.push_back(header + 4096 + 4999);
  for (const std::uint64_t offset : offsets) {
    rig.file().corrupt(offset, std::byte{0x40});
    const auto got = rig.read({1});
    EXPECT_EQ(code_of(got.statuses[0]), Errc::kCorrupt) << offset - header;
    rig.file().corrupt(offset, std::byte{0x40});
  }
  EXPECT_EQ(rig.read({1}).good, 1U);
  EXPECT_EQ(rig.tier->stats().corrupt_records, offsets.size());
}

TEST(FlashRead, AnotherBlocksRecordIsNotServed) {
  FlashRig rig;
  ASSERT_TRUE(rig.open());
  (void)rig.append(1, 2, 5000);
  std::swap(rig.owner->known[rig_id(1)].page, rig.owner->known[rig_id(2)].page);
  const auto got = rig.read({1, 2});
  EXPECT_EQ(code_of(got.statuses[0]), Errc::kCorrupt);
  EXPECT_EQ(code_of(got.statuses[1]), Errc::kCorrupt);
}

TEST(FlashRead, AnotherLengthThanTheRecordsIsNotServed) {
  FlashRig rig;
  ASSERT_TRUE(rig.open());
  (void)rig.append(1, 1, 5000);
  rig.owner->known[rig_id(1)].data_bytes = 4999;
  EXPECT_EQ(code_of(rig.read({1}).statuses[0]), Errc::kCorrupt);
}

TEST(FlashRead, PagesThatHoldNoRecordAreNotFound) {
  FlashRig rig;
  ASSERT_TRUE(rig.open());
  (void)rig.append(1, 1, 5000);
  for (const FlashPage page : {0U, 3U, ~0U, 1'000'000U}) {
    rig.owner->known[rig_id(1)].page = page;
    EXPECT_EQ(code_of(rig.read({1}).statuses[0]), Errc::kNotFound) << page;
  }
}

TEST(FlashRead, PiecesThatDoNotAddUpAreRefused) {
  FlashRig rig;
  ASSERT_TRUE(rig.open());
  (void)rig.append(1, 1, 5000);
  FlashRead item;
  item.page = rig.owner->known[rig_id(1)].page;
  item.id = rig_id(1);
  item.data_bytes = 5000;
  rig.loop->run(rig.tier->read({&item, 1}, {}));
  EXPECT_EQ(code_of(item.status), Errc::kInvalid);
}

TEST(FlashRead, PiecesOfAnyAlignmentGetTheirBytes) {
  FlashRig rig;
  ASSERT_TRUE(rig.open());
  constexpr std::uint32_t kBytes = 40'000;
  (void)rig.append(1, 1, kBytes);
  std::vector<std::byte> expected(kBytes);
  rig_fill(expected, 1);
  Rng rng(8);
  for (int round = 0; round < 50; ++round) {
    // Cut the block at random, each piece at a random phase; some pieces are page aligned.
    std::vector<std::unique_ptr<FlashRig::Lent>> memory;
    std::vector<iovec> pieces;
    for (std::uint32_t at = 0; at < kBytes;) {
      const auto size = static_cast<std::uint32_t>(
          std::min<std::uint64_t>(kBytes - at, rng.chance(0.3) ? 4096 : 1 + rng.below(9000)));
      const std::size_t phase = rng.chance(0.5) ? 0 : rng.below(4096);
      memory.push_back(std::make_unique<FlashRig::Lent>(phase + size));
      pieces.push_back({memory.back()->storage.get() + phase, size});
      at += size;
    }
    FlashRead item;
    item.page = rig.owner->known[rig_id(1)].page;
    item.id = rig_id(1);
    item.data_bytes = kBytes;
    item.data.pieces = pieces;
    rig.loop->run(rig.tier->read({&item, 1}, {}));
    ASSERT_TRUE(item.status) << to_string(item.status.error());
    std::size_t at = 0;
    for (const iovec& piece : pieces) {
      ASSERT_EQ(std::memcmp(piece.iov_base, expected.data() + at, piece.iov_len), 0) << at;
      at += piece.iov_len;
    }
  }
}

TEST(FlashRead, AChainPutTogetherIsReadInFewRequests) {
  RigOptions options;
  options.device_bytes = 64 << 20;
  FlashRig rig(options);
  ASSERT_TRUE(rig.open());
  (void)rig.append(1, 32, 16384);
  const Nanos before = rig.loop->now();
  EXPECT_EQ(rig.read(numbers(1, 32)).good, 32U);
  // 32 records of 20 KiB are one request of 640 KiB: one latency (80 us and jitter), not several.
  EXPECT_LT(rig.loop->now() - before, std::chrono::microseconds(400));
}

TEST(FlashRead, EndsAtItsDeadlineWhenTheDeviceIsStuckAndKeepsTheMemoryForIt) {
  FlashRig rig;
  ASSERT_TRUE(rig.open());
  (void)rig.append(1, 4, 16384);
  rig.engine->faults().add({.kind = io::FaultKind::kStuck, .op = io::OpKind::kRead});
  const Nanos before = rig.loop->now();
  auto memory = std::make_shared<FlashRig::Lent>(16384);
  const std::weak_ptr<FlashRig::Lent> watched = memory;
  FlashRead item;
  item.page = rig.owner->known[rig_id(1)].page;
  item.id = rig_id(1);
  item.data_bytes = 16384;
  item.data = {{&memory->piece, 1}, memory};
  memory.reset();
  rig.loop->run(rig.tier->read({&item, 1}, until(rig, milliseconds(5))));
  EXPECT_EQ(code_of(item.status), Errc::kTimedOut);
  EXPECT_EQ(rig.loop->now() - before, milliseconds(5));
  item.data = {};
  EXPECT_FALSE(watched.expired()) << "the device may still write there";
  rig.drain();
  EXPECT_TRUE(watched.expired());
  rig.engine->faults().clear();
  EXPECT_EQ(rig.read({1}).good, 1U);
}

TEST(FlashRead, WithoutAnOwnerItWaitsForTheDevice) {
  FlashRig rig;
  ASSERT_TRUE(rig.open());
  (void)rig.append(1, 1, 16384);
  rig.engine->faults().add({.kind = io::FaultKind::kStuck, .op = io::OpKind::kRead});
  io::Loop::Timer timer;
  rig.loop->arm(timer, rig.loop->now() + milliseconds(20), [&rig] { rig.engine->release_stuck(); });
  FlashRig::Lent memory(16384);
  FlashRead item;
  item.page = rig.owner->known[rig_id(1)].page;
  item.id = rig_id(1);
  item.data_bytes = 16384;
  item.data.pieces = {&memory.piece, 1};
  const Nanos before = rig.loop->now();
  rig.loop->run(rig.tier->read({&item, 1}, until(rig, milliseconds(5))));
  EXPECT_EQ(code_of(item.status), Errc::kTimedOut);
  EXPECT_GE(rig.loop->now() - before, milliseconds(20));
}

TEST(FlashRead, ACancelEndsItAtOnce) {
  FlashRig rig;
  ASSERT_TRUE(rig.open());
  (void)rig.append(1, 4, 16384);
  rig.engine->faults().add({.kind = io::FaultKind::kStuck, .op = io::OpKind::kRead});
  CancelSource cancel;
  FlashCall call;
  call.cancel = &cancel;
  io::Loop::Timer timer;
  rig.loop->arm(timer, rig.loop->now() + milliseconds(3), [&cancel] { cancel.cancel(); });
  const auto got = rig.read(numbers(1, 4), call);
  for (const Status& status : got.statuses) EXPECT_EQ(code_of(status), Errc::kCancelled);
  rig.drain();
}

TEST(FlashRead, ADeadlineThatPassedStartsNothing) {
  FlashRig rig;
  ASSERT_TRUE(rig.open());
  (void)rig.append(1, 1, 16384);
  const std::uint64_t before = rig.tier->stats().read_bytes;
  EXPECT_EQ(code_of(rig.read({1}, until(rig, Nanos{0})).statuses[0]), Errc::kTimedOut);
  EXPECT_EQ(rig.tier->stats().read_bytes, before);
}

TEST(FlashRead, ABadSectorCostsItsOwnBlockOnly) {
  FlashRig rig;
  ASSERT_TRUE(rig.open());
  (void)rig.append(1, 3, 16384);
  const std::uint64_t bad = offset_of(rig, 2);
  rig.engine->faults().add({.kind = io::FaultKind::kIoError, .op = io::OpKind::kRead, .count = 1});
  rig.engine->faults().add({.kind = io::FaultKind::kIoError,
                            .op = io::OpKind::kRead,
                            .offset_first = bad,
                            .offset_last = bad + 4096});
  const auto got = rig.read(numbers(1, 3));
  EXPECT_TRUE(got.statuses[0]);
  EXPECT_EQ(code_of(got.statuses[1]), Errc::kIo);
  EXPECT_TRUE(got.statuses[2]);
  EXPECT_EQ(got.wrong, 0U);
}

TEST(FlashRead, NamesComeFromTheRecordsOwnHeader) {
  FlashRig rig;
  ASSERT_TRUE(rig.open());
  (void)rig.append(1, 1, 100);
  const FlashPage page = rig.owner->known[rig_id(1)].page;
  const auto names = rig.loop->run(rig.tier->names_of(page, {}));
  ASSERT_TRUE(names);
  EXPECT_EQ(names->id, rig_id(1));
  EXPECT_EQ(names->data_bytes, 100U);
  EXPECT_EQ(names->tenant, "tenant");
  EXPECT_EQ(names->layout_fingerprint, "layout");
  EXPECT_EQ(names->engine_key.size(), 4U);
  EXPECT_EQ(rig.loop->run(rig.tier->names_of(page + 1, {})).error().code, Errc::kCorrupt);
  EXPECT_EQ(rig.loop->run(rig.tier->names_of(0, {})).error().code, Errc::kNotFound);
}

}  // namespace
}  // namespace forebay::store
