// Random work of many tenants on a store without flash, against an oracle: spaces registered while
// puts wait, parents that are absent, wrong, in a circle or the block itself, cancels, deadlines.
// What is delivered is right and its asker's own; usage adds up; quotas and the tier's size hold.
// Seeded; FOREBAY_TRIALS raises the count, FOREBAY_SEED sets the first.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>

#include "store/test_rig.h"

namespace forebay::store {
namespace {

constexpr std::size_t kBlockBytes = 4096;
constexpr Nanos kPatience{1'000'000};

std::uint64_t number_of(const char* variable, std::uint64_t otherwise) {
  const char* wanted = std::getenv(variable);
  return wanted == nullptr ? otherwise : std::strtoull(wanted, nullptr, 10);
}

StoreOptions options_of(Rng& rng) {
  const auto names = policy::policy_names();
  StoreOptions options;
  options.policy = names[rng.below(names.size())];
  options.dram_bytes = (16 + rng.below(2000)) * kBlockBytes;
  for (std::uint64_t i = 0; i < rng.below(4); ++i) {
    options.quotas.push_back(
        {.tenant = fmt::format("tenant{}", i), .dram_bytes_max = (4 + rng.below(40)) * 8192});
  }
  return options;
}

// One call in flight, with all that it lends.
struct Call {
  CancelSource cancel;
  std::size_t tenant = 0;
  std::uint64_t first = 0;
  std::deque<TestBuffer> buffers;
  std::vector<PutItem> puts;
  std::vector<GetItem> gets;
  CallOptions options;
  bool done = false;
};
using SharedCall = std::shared_ptr<Call>;

Task<void> run_call(Store* store, SharedCall call) {
  if (!call->puts.empty()) co_await store->put(call->puts, call->options);
  if (!call->gets.empty()) (void)co_await store->get(call->gets, call->options);
  call->done = true;
}

class TenantsTrial {
 public:
  explicit TenantsTrial(std::uint64_t seed)
      : seed_(seed), rng_(Rng(seed).fork("tenants")), rig_(options_of(rng_), false) {
    add_tenant();
  }

  void run() {
    SCOPED_TRACE(fmt::format("FOREBAY seed {}", seed_));
    for (unsigned step = 0; step < 300 && !::testing::Test::HasFailure(); ++step) {
      act();
      reap();
      check_usage();
    }
    for (const SharedCall& call : calls_) call->cancel.cancel();
    if (rng_.chance(0.3)) return;  // destroyed in mid-flight
    while (rig_.loop.spawned_count() > 0) rig_.loop.turn();
    reap();
    EXPECT_TRUE(calls_.empty());
  }

 private:
  void act() {
    const std::uint64_t dice = rng_.below(100);
    if (dice < 12) {
      add_tenant();
    } else if (dice < 55) {
      put();
    } else if (dice < 75) {
      get();
    } else if (dice < 80) {
      remove();
    } else if (dice < 90) {
      look();
    } else if (dice < 94 && !calls_.empty()) {
      calls_[rng_.below(calls_.size())]->cancel.cancel();
    } else {
      rig_.loop.turn();
    }
  }
  void add_tenant() {
    for (std::uint64_t i = 0; i < 1 + rng_.below(20); ++i) {
      const std::string name = fmt::format("tenant{}", spaces_.size());
      spaces_.push_back(
          rig_.store->register_space({.tenant = name, .layout_fingerprint = "layout"}).value());
    }
  }
  BlockId id_of(std::size_t tenant, std::uint64_t number) const {
    return test_id(number, fmt::format("tenant{}", tenant));
  }
  static std::uint64_t content_of(std::size_t tenant, std::uint64_t number) {
    return tenant * 1'000'000 + number;
  }
  // Chains, and what no engine should send: a parent that is itself, later, another's, unknown.
  BlockId parent_of(std::size_t tenant, std::uint64_t number, bool starts) {
    const std::uint64_t dice = rng_.below(20);
    if (dice == 0) return id_of(tenant, number);
    if (dice == 1) return id_of(tenant, number + 1 + rng_.below(5));
    if (dice == 2) return id_of(rng_.below(spaces_.size()), number);
    if (dice == 3) return id_of(tenant, 10'000 + rng_.below(100));
    return starts ? kNoParent : id_of(tenant, number - 1);
  }
  SharedCall make_call() {
    auto call = std::make_shared<Call>();
    call->tenant = rng_.below(spaces_.size());
    call->first = rng_.below(20) * 10;
    call->options.space = spaces_[call->tenant];
    call->options.cancel = &call->cancel;
    if (rng_.chance(0.5)) call->options.deadline = rig_.loop.now() + kPatience;
    return call;
  }
  void start(SharedCall call) {
    calls_.push_back(call);
    rig_.loop.spawn(run_call(rig_.store.get(), std::move(call)));
  }
  // Now and then more than one step of copying, so that others come between.
  void put() {
    const SharedCall call = make_call();
    const std::size_t count = rng_.chance(0.05) ? 1500 : 1 + rng_.below(12);
    call->puts.resize(count);
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t number = call->first + i;
      call->buffers.emplace_back(kBlockBytes);
      fill_block(call->buffers.back().bytes, content_of(call->tenant, number));
      PutItem& item = call->puts[i];
      item.id = id_of(call->tenant, number);
      item.parent = parent_of(call->tenant, number, i == 0);
      item.data = call->buffers.back().lend();
      item.token_count = static_cast<std::uint32_t>(rng_.below(400));
      item.chain_depth = static_cast<std::uint32_t>(i);
    }
    start(call);
  }
  void get() {
    const SharedCall call = make_call();
    call->gets.resize(1 + rng_.below(12));
    const std::size_t whose = rng_.chance(0.2) ? rng_.below(spaces_.size()) : call->tenant;
    for (std::size_t i = 0; i < call->gets.size(); ++i) {
      call->buffers.emplace_back(kBlockBytes);
      call->gets[i].id = id_of(whose, call->first + i);
      call->gets[i].buffer = call->buffers.back().lend();
    }
    if (whose != call->tenant) call->tenant = kNobody;
    start(call);
  }
  void remove() {
    const std::size_t tenant = rng_.below(spaces_.size());
    const std::vector<BlockId> ids{id_of(tenant, rng_.below(200)), id_of(tenant, rng_.below(200))};
    (void)rig_.loop.run(rig_.store->remove(ids, {.space = spaces_[tenant]}));
    EXPECT_FALSE(rig_.store->block_bytes(ids.front()).has_value());
  }
  void look() {
    const std::size_t tenant = rng_.below(spaces_.size());
    std::vector<BlockId> chain;
    for (std::uint64_t i = 0; i < 10; ++i) chain.push_back(id_of(tenant, rng_.below(200) + i));
    (void)rig_.store->lookup(chain, spaces_[tenant]);
    rig_.store->touch(chain, spaces_[tenant]);
  }
  void reap() {
    std::vector<std::byte> expected(kBlockBytes);
    for (const SharedCall& call : calls_) {
      if (!call->done) continue;
      for (std::size_t i = 0; i < call->gets.size(); ++i) {
        if (call->gets[i].miss != MissReason::kNone) continue;
        EXPECT_NE(call->tenant, kNobody);  // another's block
        fill_block(expected, content_of(call->tenant, call->first + i));
        EXPECT_EQ(call->buffers[i].bytes, expected);
      }
    }
    std::erase_if(calls_, [](const SharedCall& call) { return call->done; });
  }
  void check_usage() {
    const StoreStats::TierStats dram =
        rig_.store->stats().tiers[static_cast<std::size_t>(Tier::kDram)];
    EXPECT_LE(dram.used_bytes, dram.capacity_bytes);
    const Spaces& spaces = rig_.state->spaces;
    std::uint64_t of_all = 0;
    for (TenantId tenant = 0; tenant < spaces.tenant_count(); ++tenant) {
      const std::uint64_t used = spaces.used_bytes(tenant, Tier::kDram);
      const std::uint64_t most = spaces.quota_bytes(tenant, Tier::kDram);
      if (most != 0) EXPECT_LE(used, most);
      of_all += used;
    }
    EXPECT_EQ(of_all, dram.used_bytes);
    EXPECT_EQ(rig_.store->list().size(), dram.block_count);
  }

  static constexpr std::size_t kNobody = ~std::size_t{0};
  std::uint64_t seed_;
  Rng rng_;
  std::vector<SharedCall> calls_;  // before the rig: frames name them
  StoreRig rig_;
  std::vector<SpaceId> spaces_;
};

TEST(TenantsModel, ManyTenantsInDramAloneStayApartAndAddUp) {
  const std::uint64_t first = number_of("FOREBAY_SEED", 1);
  const std::uint64_t trials = number_of("FOREBAY_TRIALS", 40);
  for (std::uint64_t seed = first; seed < first + trials && !::testing::Test::HasFailure();
       ++seed) {
    TenantsTrial(seed).run();
  }
}

// An engine's mistake, or two names that agree in the 16 bytes the index knows.
TEST(Store, ABlockThatNamesItselfAsParentIsAChainOfOne) {
  StoreOptions options;
  options.dram_bytes = 64 * 8192;
  StoreRig rig(std::move(options), false);
  TestBuffer buffer(8192);
  fill_block(buffer.bytes, 5);
  std::vector<PutItem> items(1);
  items[0].id = test_id(5);
  items[0].parent = test_id(5);
  items[0].data = buffer.lend();
  items[0].token_count = 16;
  rig.loop.run(rig.store->put(items, {.space = rig.space}));
  ASSERT_TRUE(items[0].status.has_value());
  const auto got = rig.get(5, 1);
  EXPECT_EQ(got.summary.leading_blocks, 1U);
  EXPECT_EQ(got.wrong_blocks, 0U);
}

}  // namespace
}  // namespace forebay::store
