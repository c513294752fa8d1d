// Appends: durable before they end, shared flushes, holes, deadlines.
#include <gtest/gtest.h>

#include <numeric>

#include "store/tier/flash_rig.h"

namespace forebay::store {
namespace {

using std::chrono::milliseconds;

Errc code_of(const Status& status) { return status ? Errc{} : status.error().code; }

FlashCall until(FlashRig& rig, Nanos span) {
  FlashCall call;
  call.io.deadline = rig.loop->now() + span;
  return call;
}

Task<void> run_all(std::vector<Task<std::vector<Status>>>* calls) {
  for (auto& call : *calls) call.start();
  for (auto& call : *calls) (void)co_await call;
}

TEST(FlashAppend, NothingIsAcknowledgedBeforeItIsFlushed) {
  FlashRig rig;
  ASSERT_TRUE(rig.open());
  ASSERT_TRUE(rig.append(1, 4, 16384)[3]);
  EXPECT_EQ(rig.file().unflushed_writes(), 0U);
}

TEST(FlashAppend, CallsAtOnceShareFlushes) {
  RigOptions options;
  std::size_t requests = 0;  // writes and flushes
  options.flash.kill_point = [&requests] {
    ++requests;
    return false;
  };
  FlashRig rig(options);
  ASSERT_TRUE(rig.open());
  (void)rig.append(1, 1, 4096);
  requests = 0;
  std::vector<Task<std::vector<Status>>> calls;
  for (std::uint64_t i = 0; i < 8; ++i) {
    calls.push_back(FlashRig::append_chain(&rig, 100 + i, 1, 4096, {}));
  }
  rig.loop->run(run_all(&calls));
  EXPECT_LE(requests, 8U + 3U) << "eight writes and a few flushes";
  EXPECT_EQ(rig.owner->known.size(), 9U);
}

TEST(FlashAppend, ItemsOfACallLieOneAfterAnother) {
  FlashRig rig({.device_bytes = 64 << 20});
  ASSERT_TRUE(rig.open());
  (void)rig.append(1, 16, 20'000);
  FlashPage page = rig.owner->known[rig_id(1)].page;
  for (std::uint64_t n = 2; n <= 16; ++n) {
    page += 6;  // a header page and five of data
    EXPECT_EQ(rig.owner->known[rig_id(n)].page, page);
  }
}

TEST(FlashAppend, SizesThatCannotBeAreRefusedEachItsOwn) {
  FlashRig rig;
  ASSERT_TRUE(rig.open());
  FlashRig::Lent memory(1 << 20);
  std::vector<FlashAppend> items(4);
  const std::string long_name(300, 'x');
  for (FlashAppend& item : items) {
    item.facts.id = rig_id(1);
    item.facts.data_bytes = 1 << 20;
    item.data.pieces = {&memory.piece, 1};
  }
  items[0].facts.data_bytes = 5;      // the pieces say otherwise
  items[1].facts.tenant = long_name;  // 64 at most
  items[3].facts.data_bytes = 4096;   // this one is good
  iovec page{memory.storage.get(), 4096};
  items[3].data.pieces = {&page, 1};
  rig.loop->run(rig.tier->append(items, {}));
  EXPECT_EQ(code_of(items[0].status), Errc::kInvalid);
  EXPECT_EQ(code_of(items[1].status), Errc::kInvalid);
  EXPECT_EQ(code_of(items[2].status), Errc::kInvalid);  // larger than a segment of this device
  EXPECT_TRUE(items[3].status);
  EXPECT_NE(items[3].page, kNoFlashPage);
}

TEST(FlashAppend, EndsAtItsDeadlineWhenTheDeviceIsStuck) {
  FlashRig rig;
  ASSERT_TRUE(rig.open());
  (void)rig.append(1, 1, 4096);
  rig.engine->faults().add({.kind = io::FaultKind::kStuck, .op = io::OpKind::kWrite, .count = 1});
  const Nanos before = rig.loop->now();
  EXPECT_EQ(code_of(rig.append(2, 1, 16384, until(rig, milliseconds(7)))[0]), Errc::kTimedOut);
  EXPECT_EQ(rig.loop->now() - before, milliseconds(7));
  // Others go on beside the hole.
  EXPECT_TRUE(rig.append(3, 1, 16384)[0]);
  rig.drain();
  rig.engine->faults().clear();
  ASSERT_TRUE(rig.reopen());
  EXPECT_EQ(rig.read({1, 3}).good, 2U);
}

TEST(FlashAppend, AFailedFlushAcknowledgesNothing) {
  FlashRig rig;
  ASSERT_TRUE(rig.open());
  (void)rig.append(1, 1, 4096);
  rig.engine->faults().add({.kind = io::FaultKind::kIoError, .op = io::OpKind::kFlush, .count = 1});
  EXPECT_EQ(code_of(rig.append(2, 2, 4096)[0]), Errc::kIo);
  EXPECT_TRUE(rig.append(5, 1, 4096)[0]);
  ASSERT_TRUE(rig.reopen());
  EXPECT_EQ(rig.read({1, 5}).good, 2U);
}

TEST(FlashAppend, AFailedWriteCostsItsOwnRecordsOnly) {
  FlashRig rig;
  ASSERT_TRUE(rig.open());
  (void)rig.append(1, 1, 4096);
  rig.engine->faults().add({.kind = io::FaultKind::kIoError, .op = io::OpKind::kWrite, .count = 1});
  EXPECT_EQ(code_of(rig.append(2, 1, 4096)[0]), Errc::kIo);
  EXPECT_TRUE(rig.append(3, 1, 4096)[0]);
  EXPECT_EQ(rig.tier->stats().mode, FlashMode::kReadWrite);
  ASSERT_TRUE(rig.reopen());
  EXPECT_FALSE(rig.owner->known.contains(rig_id(2)));
  EXPECT_EQ(rig.read({1, 3}).good, 2U);
}

TEST(FlashAppend, WithoutItsSegmentsHeaderNothingIsAcknowledged) {
  FlashRig rig;
  ASSERT_TRUE(rig.open());
  // The first write of a fresh tier is the header of its first segment.
  rig.engine->faults().add({.kind = io::FaultKind::kIoError, .op = io::OpKind::kWrite, .count = 1});
  EXPECT_FALSE(rig.append(1, 1, 4096)[0]);
  EXPECT_TRUE(rig.append(2, 1, 4096)[0]);
  ASSERT_TRUE(rig.reopen());
  EXPECT_EQ(rig.read({2}).good, 1U);
}

TEST(FlashAppend, ACallLargerThanTheWindowGoesThrough) {
  RigOptions options;
  options.device_bytes = 512 << 20;
  options.sim.bytes_per_second = 0;
  FlashRig rig(options);
  ASSERT_TRUE(rig.open());
  // 96 MiB in one call: more than may be without a verdict at once.
  const auto statuses = rig.append(1, 48, 2 << 20);
  EXPECT_EQ(std::ranges::count_if(statuses, [](const Status& s) { return s.has_value(); }), 48);
  EXPECT_EQ(rig.read({1, 24, 48}).good, 3U);
}

TEST(FlashAppend, ACallLargerThanTheDeviceEndsInNoSpace) {
  FlashRig rig;
  ASSERT_TRUE(rig.open());
  const auto statuses = rig.append(1, 400, 16384);  // 8 MiB on a device of 4
  std::size_t good = 0;
  for (const Status& status : statuses) {
    good += status.has_value();
    if (!status) EXPECT_EQ(code_of(status), Errc::kNoSpace);
  }
  EXPECT_GT(good, 50U);
  EXPECT_LT(good, 250U);
  EXPECT_TRUE(rig.append(1000, 1, 16384)[0]) << "the next call finds room again";
}

TEST(FlashAppend, UnalignedMemoryIsCopied) {
  FlashRig rig;
  ASSERT_TRUE(rig.open());
  FlashRig::Lent memory(20'001);
  FlashAppend item;
  item.facts.id = rig_id(9);
  item.facts.data_bytes = 20'000;
  rig_fill({memory.storage.get() + 1, 20'000}, 9);
  const iovec pieces[] = {{memory.storage.get() + 1, 7000}, {memory.storage.get() + 7001, 13'000}};
  item.data.pieces = pieces;
  rig.loop->run(rig.tier->append({&item, 1}, {}));
  ASSERT_TRUE(item.status);
  rig.owner->on_recovered(item.facts, item.page);
  EXPECT_EQ(rig.read({9}).good, 1U);
}

}  // namespace
}  // namespace forebay::store
