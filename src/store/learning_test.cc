// What the policies learned survives a restart: a reopened store gives up what an unbroken one
// gives up, and one that starts cold does not; whatever is wrong with the state costs no block.
#include <gtest/gtest.h>

#include <numeric>

#include "core/bytes.h"
#include "store/disk_rig.h"
#include "store/learning_format.h"
#include "store/policy/reuse_model.h"
#include "store/tier/flash_kept_format.h"

namespace forebay::store {
namespace {

constexpr std::uint64_t kDeviceBytes = 8 * kMiB;
constexpr std::size_t kSessionBlocks = 4;
constexpr std::size_t kScanBlocks = 16;
constexpr std::uint64_t kSessions = 12;
constexpr std::uint64_t kScans = 45;  // together more blocks than the device holds

StoreOptions options_of(std::string policy = "forebay") {
  StoreOptions options;
  options.policy = std::move(policy);
  options.write_back_bytes_max = 2 * kMiB;
  return options;
}

class LearningRig : public DiskRig {
 public:
  explicit LearningRig(StoreOptions options = options_of(), std::uint64_t bytes = kDeviceBytes)
      : DiskRig(std::move(options), bytes, 7) {}

  FlashLayout layout() { return make_flash_layout(device->geometry(), 0).value(); }
  std::uint64_t slot_offset(std::uint32_t slot) {
    return layout().offset_of(layout().kept_page(slot));
  }
  // What the newest slot keeps.
  std::vector<std::byte> kept() {
    std::vector<std::byte> newest;
    std::uint64_t number = 0;
    for (std::uint32_t slot = 0; slot < 2; ++slot) {
      std::vector<std::byte> bytes(layout().kept_pages * std::size_t{layout().page_bytes});
      file().read(slot_offset(slot), bytes);
      const auto header = load_as<KeptHeader>(bytes);
      if (header.number <= number) continue;
      number = header.number;
      newest.assign(bytes.begin() + sizeof header,
                    bytes.begin() + sizeof header + header.body_bytes);
    }
    return newest;
  }
  // In both slots, with checksums that hold.
  void keep_instead(std::span<const std::byte> body) {
    for (std::uint32_t slot = 0; slot < 2; ++slot) {
      std::vector<std::byte> bytes(layout().kept_pages * std::size_t{layout().page_bytes});
      file().read(slot_offset(1), bytes);
      auto header = load_as<KeptHeader>(bytes);
      header.slot = slot;
      header.body_bytes = static_cast<std::uint32_t>(body.size());
      std::ranges::copy(body, bytes.begin() + sizeof header);
      encode_kept(header, bytes);
      file().write(slot_offset(slot), bytes);
    }
    file().flush();
  }
  void forget_what_was_learned() {
    for (std::uint32_t slot = 0; slot < 2; ++slot) {
      file().corrupt(slot_offset(slot), std::byte{1});
    }
  }
  // Short chains come back after a while, as often as they are asked for; long ones never do.
  void learn() {
    for (std::uint64_t round = 1; round <= 4; ++round) {
      for (std::uint64_t turn = 0; turn < 4; ++turn) {
        for (std::uint64_t s = 0; s < kSessions; ++s)
          use(round * 100'000 + s * 100, kSessionBlocks);
        scan(round * 100'000 + turn * 10'000 + 2000);
      }
    }
  }
  // New sessions, then more scans than the device holds: what is left of either?
  std::vector<std::size_t> live_on() {
    begin_sessions();
    return end_sessions();
  }
  void begin_sessions() {
    for (std::uint64_t s = 0; s < kSessions; ++s) use(s * 100, kSessionBlocks);
  }
  std::vector<std::size_t> end_sessions() {
    scan(2000);
    std::vector<std::size_t> left;
    for (std::uint64_t s = 0; s < kSessions; ++s) left.push_back(lookup(s * 100, kSessionBlocks));
    for (std::uint64_t s = 0; s < kScans; ++s) left.push_back(lookup(2000 + s * 100, kScanBlocks));
    return left;
  }
  // As an engine does: what is there is loaded, the rest is put.
  void use(std::uint64_t first, std::size_t count) {
    const std::size_t present = lookup(first, count);
    if (present > 0) get(first, present);
    if (present == count) return;
    put(first, count);
    ASSERT_TRUE(flush());
    loop->run(sleep_a_little(loop.get()));
  }
  void rest(Nanos span) {
    loop->run([](io::Loop* on, Nanos for_span) -> Task<void> { co_await on->sleep_for(for_span); }(
                                                   loop.get(), span));
  }

 private:
  void scan(std::uint64_t first) {
    for (std::uint64_t s = 0; s < kScans; ++s) use(first + s * 100, kScanBlocks);
  }
};

// In the sessions' chains, of the blocks that live_on() put.
std::size_t sessions_left(const std::vector<std::size_t>& left) {
  const auto sessions = std::span(left).first(kSessions);
  return std::accumulate(sessions.begin(), sessions.end(), std::size_t{0});
}

TEST(Learning, AReopenedStoreGivesUpWhatAnUnbrokenOneDoes) {
  LearningRig unbroken;
  ASSERT_TRUE(unbroken.open());
  unbroken.learn();
  const std::size_t expected = sessions_left(unbroken.live_on());

  LearningRig reopened;
  ASSERT_TRUE(reopened.open());
  reopened.learn();
  ASSERT_TRUE(reopened.close());
  ASSERT_TRUE(reopened.reopen());
  EXPECT_EQ(reopened.store->stats().learning_restored_models, 1U);
  EXPECT_EQ(sessions_left(reopened.live_on()), expected);
  EXPECT_GE(expected, kSessions * kSessionBlocks * 9 / 10);

  LearningRig forgetful;
  ASSERT_TRUE(forgetful.open());
  forgetful.learn();
  ASSERT_TRUE(forgetful.close());
  forgetful.forget_what_was_learned();
  ASSERT_TRUE(forgetful.reopen());
  EXPECT_EQ(forgetful.store->stats().learning_restored_models, 0U);
  EXPECT_LE(sessions_left(forgetful.live_on()), expected / 4);
}

// The restart comes between the sessions and the scans: the sessions' blocks are judged by heat,
// what pushes at them by what was learned.
TEST(Learning, BlocksOfBeforeTheRestartAreKeptAsInAnUnbrokenStore) {
  const auto left_after = [](bool restart, bool forget) {
    LearningRig rig;
    EXPECT_TRUE(rig.open());
    rig.learn();
    rig.begin_sessions();
    if (restart) {
      EXPECT_TRUE(rig.close());
      if (forget) rig.forget_what_was_learned();
      EXPECT_TRUE(rig.reopen());
    }
    return sessions_left(rig.end_sessions());
  };
  const std::size_t unbroken = left_after(false, false);
  EXPECT_GE(unbroken, kSessions * kSessionBlocks * 9 / 10);
  EXPECT_EQ(left_after(true, false), unbroken);
  EXPECT_LE(left_after(true, true), unbroken / 4);
}

TEST(Learning, BothTiersGoOn) {
  StoreOptions options = options_of();
  options.dram_bytes = 64 * DiskRig::kBlockBytes;
  LearningRig rig(options);
  ASSERT_TRUE(rig.open());
  rig.use(0, 4);
  ASSERT_TRUE(rig.close());
  ASSERT_TRUE(rig.reopen());
  EXPECT_EQ(rig.store->stats().learning_restored_models, 2U);
}

TEST(Learning, IsWrittenInTheBackgroundNowAndThen) {
  LearningRig rig;
  ASSERT_TRUE(rig.open());
  rig.use(0, 4);
  rig.rest(Learning::kEvery / 2);
  rig.use(100, 4);
  EXPECT_EQ(rig.store->stats().learning_writes, 0U);
  rig.rest(Learning::kEvery / 2);
  EXPECT_EQ(rig.store->stats().learning_writes, 0U) << "nothing is learned while nobody asks";
  rig.use(200, 4);
  rig.rest(Nanos(1'000'000'000));
  EXPECT_EQ(rig.store->stats().learning_writes, 1U);
  rig.use(300, 4);
  EXPECT_EQ(rig.store->stats().learning_writes, 1U);
  ASSERT_TRUE(rig.reopen());  // killed: no close
  EXPECT_EQ(rig.store->stats().learning_restored_models, 1U);
}

TEST(Learning, ADeviceThatDoesNotTakeItHoldsNobodyUp) {
  LearningRig rig;
  ASSERT_TRUE(rig.open());
  rig.use(0, 4);
  rig.engine->faults().add({.kind = io::FaultKind::kStuck,
                            .op = io::OpKind::kWrite,
                            .offset_first = rig.slot_offset(0)});
  rig.rest(Learning::kEvery);
  rig.use(100, 4);
  const auto got = rig.get(0, 4);
  EXPECT_EQ(got.leading_blocks, 4U);
  EXPECT_LT(got.took, Nanos(100'000'000));
  rig.rest(2 * Learning::kWithin);
  EXPECT_EQ(rig.store->stats().learning_writes, 0U);
  EXPECT_EQ(rig.get(100, 4).leading_blocks, 4U);
}

TEST(Learning, WithoutARequestNothingIsWritten) {
  LearningRig rig;
  ASSERT_TRUE(rig.open());
  rig.use(0, 4);
  ASSERT_TRUE(rig.close());
  EXPECT_EQ(rig.store->stats().learning_writes, 1U);
  ASSERT_TRUE(rig.reopen());
  ASSERT_TRUE(rig.close());
  EXPECT_EQ(rig.store->stats().learning_writes, 0U);
}

TEST(Learning, AnotherPolicyStartsCold) {
  LearningRig rig;
  ASSERT_TRUE(rig.open());
  rig.use(0, 4);
  ASSERT_TRUE(rig.close());
  rig.options().policy = "lru";
  ASSERT_TRUE(rig.reopen());
  EXPECT_EQ(rig.store->stats().learning_restored_models, 0U);
  EXPECT_EQ(rig.get(0, 4).leading_blocks, 4U);
  ASSERT_TRUE(rig.close());
  EXPECT_EQ(rig.store->stats().learning_writes, 0U);
}

// Models know a key space by its number, which must not depend on whose record is found first.
TEST(Learning, KeySpacesKeepTheirNumbers) {
  LearningRig rig;
  ASSERT_TRUE(rig.open());
  const KeySpace second{.tenant = "second", .layout_fingerprint = "layout"};
  rig.space = rig.store->register_space(second).value();
  ASSERT_EQ(rig.space.value, 1U);
  rig.use(0, 4);  // no block of the first space
  ASSERT_TRUE(rig.close());
  ASSERT_TRUE(rig.reopen());
  EXPECT_EQ(rig.store->register_space(second).value().value, 1U);
  EXPECT_EQ(rig.space.value, 0U);
}

TEST(Learning, WhatHasNoRoomIsLeftOutAndCounted) {
  LearningRig rig(options_of(), kMiB);  // room for a dozen groups
  ASSERT_TRUE(rig.open());
  for (std::size_t blocks = 1; blocks <= 32; blocks *= 2) {
    for (int turn = 0; turn < 4; ++turn) rig.use(blocks * 1000, blocks);
  }
  ASSERT_TRUE(rig.close());
  EXPECT_EQ(rig.store->stats().learning_too_large, 1U);
  EXPECT_EQ(rig.store->stats().learning_writes, 0U);
  ASSERT_TRUE(rig.reopen());
  EXPECT_EQ(rig.store->stats().learning_restored_models, 0U);
  EXPECT_EQ(rig.get(32'000, 32).leading_blocks, 32U);
}

// A whole model of every policy fits a slot of full size twice, the spaces beside it.
TEST(Learning, FullModelsHaveRoomOnADeviceOfSomeSize) {
  policy::ReuseModel full;
  for (std::size_t group = 0; group < policy::ReuseGroup::kCount; ++group) {
    full.met(static_cast<std::uint16_t>(group));
  }
  Learned learned;
  const std::string name(kLayoutBytesMax, 'x');
  for (std::size_t i = 0; i < kLearnedSpacesMax; ++i) learned.spaces.push_back({"tenant", name});
  const auto state = full.save();
  learned.models = {{Tier::kFlash, "forebay", state}, {Tier::kDram, "forebay", state}};
  block::Geometry geometry;
  geometry.size_bytes = 2 * kGiB;
  const FlashLayout layout = make_flash_layout(geometry, 0).value();
  const std::size_t room = layout.kept_pages * std::size_t{layout.page_bytes} - sizeof(KeptHeader);
  EXPECT_EQ(encode_learned(learned, room).left_out_models, 0U);
}

TEST(Learning, WhatIsWrongWithItIsAColdStartAndCostsNoBlock) {
  LearningRig rig;
  ASSERT_TRUE(rig.open());
  rig.use(0, 4);
  ASSERT_TRUE(rig.close());
  const std::vector<std::byte> good = rig.kept();
  ASSERT_TRUE(decode_learned(good));
  const auto restored_from = [&rig](std::vector<std::byte> bytes) {
    rig.keep_instead(bytes);
    EXPECT_TRUE(rig.reopen());
    EXPECT_EQ(rig.get(0, 4).leading_blocks, 4U);
    return rig.store->stats().learning_restored_models;
  };
  EXPECT_EQ(restored_from(good), 1U);
  EXPECT_EQ(restored_from({}), 0U);
  EXPECT_EQ(restored_from({good.begin(), good.end() - 1}), 0U);
  auto changed = good;
  changed[0] = std::byte{9};  // version of the learning
  EXPECT_EQ(restored_from(changed), 0U);
  changed = good;
  const std::size_t state_at = good.size() - decode_learned(good)->models[0].state.size();
  changed[state_at] = std::byte{9};  // version of the policy's own state
  EXPECT_EQ(restored_from(changed), 0U);
  changed = good;
  changed.back() = std::byte{0xff};  // a count that is no number
  changed[changed.size() - 2] = std::byte{0xff};
  EXPECT_EQ(restored_from(changed), 0U);
  changed = good;
  changed[state_at - 24] = std::byte{7};  // no such tier
  EXPECT_EQ(restored_from(changed), 0U);
}

// Power goes at each write of a close that has learning to save: it opens with what was learned
// before or with the new, and with every block.
TEST(Learning, APowerCutAtAnyWriteOfACloseLeavesOneOfBoth) {
  bool cut = true;
  std::uint64_t restored = 0;
  std::uint64_t after = 0;
  for (; cut; ++after) {
    SCOPED_TRACE(after);
    LearningRig rig;
    ASSERT_TRUE(rig.open());
    rig.use(0, 4);
    ASSERT_TRUE(rig.close());
    ASSERT_TRUE(rig.reopen());
    const auto before = rig.kept();
    rig.use(100, 12);
    rig.engine->cut_power_after_writes(after);
    cut = !rig.close() || rig.engine->power_is_cut();
    const Status opened = rig.reopen();
    ASSERT_TRUE(opened) << to_string(opened.error());
    EXPECT_EQ(rig.store->stats().learning_restored_models, 1U);
    restored += rig.kept() != before;
    for (const auto [first, count] : {std::pair{0U, 4U}, std::pair{100U, 12U}}) {
      const auto got = rig.get(first, count);
      EXPECT_EQ(got.leading_blocks, count);
      EXPECT_EQ(got.wrong_blocks, 0U);
    }
  }
  EXPECT_GT(after, 3U);
  EXPECT_GT(restored, 0U);
}

}  // namespace
}  // namespace forebay::store
