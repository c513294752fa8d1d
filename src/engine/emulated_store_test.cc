// The whole path in virtual time: emulated engine, store backend, DRAM and flash tiers, a simulated
// disk that lies. Whatever the disk does, no wrong byte reaches the engine and every request ends.
#include <gtest/gtest.h>

#include "core/log.h"
#include "core/rng.h"
#include "engine/backend_store.h"
#include "engine/emulated.h"
#include "io/sim.h"

namespace forebay::engine {
namespace {

constexpr std::uint32_t kBlockTokens = 64;
constexpr std::uint64_t kBlockBytes = 16 << 10;

std::vector<workload::Request> shared_prefixes(std::uint64_t seed, std::size_t count) {
  Rng rng(seed);
  std::vector<workload::Request> requests(count);
  std::int64_t at = 0;
  for (std::size_t i = 0; i < count; ++i) {
    workload::Request& request = requests[i];
    at += static_cast<std::int64_t>(rng.below(40'000'000));
    request.index = i;
    request.arrival_ns = at;
    request.block_tokens = kBlockTokens;
    const std::uint64_t session = rng.below(20);
    const std::uint64_t blocks = 4 + rng.below(28);
    for (std::uint64_t b = 0; b < blocks; ++b) request.block_ids.push_back(session * 100 + b);
    request.input_tokens = static_cast<std::uint32_t>(blocks * kBlockTokens - rng.below(30));
    request.output_tokens = static_cast<std::uint32_t>(1 + rng.below(8));
  }
  return requests;
}

struct Rig {
  io::SimEngine engine;
  io::Loop loop{engine};
  std::unique_ptr<block::Device> device;
  std::unique_ptr<BackendStore> backend;

  explicit Rig(std::uint64_t seed) : engine({.seed = seed}) {
    auto opened =
        block::open_device(loop, "/flash", {.size_bytes = 64 << 20, .write = true, .create = true});
    EXPECT_TRUE(opened) << to_string(opened.error());
    device = std::move(*opened);
    open_store();
  }
  void open_store() {
    store::StoreOptions options;
    options.dram_bytes = 60 * kBlockBytes;
    options.write_back_bytes_max = 1 << 20;
    options.policy = "lru";
    options.flash = device.get();
    options.flash_options.format = true;
    auto store = loop.run(store::Store::open(&loop, options));
    ASSERT_TRUE(store) << to_string(store.error());
    backend = *BackendStore::make(&loop, "forebay", std::move(*store), {"tenant", "layout"});
  }
  EngineResult run(std::span<const workload::Request> requests) {
    EngineOptions options;
    options.kv_bytes_per_token = kBlockBytes / kBlockTokens;
    options.block_tokens = kBlockTokens;
    options.hbm_kv_bytes = 80 * kBlockBytes;
    options.prefill_tokens_per_second = 20000;
    options.load_deadline = std::chrono::milliseconds(200);
    options.space = {"tenant", "layout"};
    return loop.run(run_emulated(&loop, requests, backend.get(), options, nullptr, {}));
  }
};

std::uint64_t blocks_from(const EngineResult& result, store::Tier tier) {
  std::uint64_t blocks = 0;
  for (const RequestRecord& record : result.records) {
    blocks += record.tier_blocks[static_cast<std::size_t>(tier)];
  }
  return blocks;
}

TEST(EmulatedStore, LoadsFromBothTiersAndEveryByteIsRight) {
  Rig rig(1);
  const auto requests = shared_prefixes(1, 300);
  const EngineResult result = rig.run(requests);
  ASSERT_EQ(result.records.size(), requests.size());
  for (const RequestRecord& record : result.records) {
    EXPECT_EQ(record.state, RequestState::kDone);
    EXPECT_EQ(
        record.queue_ns + record.lookup_ns + record.read_ns + record.recompute_ns + record.other_ns,
        record.first_token_ns - record.intended_ns);
  }
  EXPECT_EQ(result.wrong_blocks, 0U);
  EXPECT_GT(blocks_from(result, store::Tier::kDram), 0U);
  EXPECT_GT(blocks_from(result, store::Tier::kFlash), 0U);
  std::uint64_t logged_bytes = 0;
  for (const KvOp& op : rig.backend->take_ops()) {
    if (!op.write) logged_bytes += op.bytes;
  }
  EXPECT_EQ(logged_bytes,
            (blocks_from(result, store::Tier::kDram) + blocks_from(result, store::Tier::kFlash)) *
                kBlockBytes);
  rig.loop.run(rig.backend->close());
}

TEST(EmulatedStore, OneSeedGivesOneRun) {
  const auto requests = shared_prefixes(3, 200);
  const auto once = [&] {
    Rig rig(3);
    EngineResult result = rig.run(requests);
    rig.loop.run(rig.backend->close());
    return result;
  };
  const EngineResult a = once();
  const EngineResult b = once();
  ASSERT_EQ(a.records.size(), b.records.size());
  for (std::size_t i = 0; i < a.records.size(); ++i) {
    EXPECT_EQ(a.records[i].first_token_ns, b.records[i].first_token_ns) << i;
    EXPECT_EQ(a.records[i].tier_blocks, b.records[i].tier_blocks) << i;
  }
}

class EmulatedStoreFaults : public ::testing::TestWithParam<io::FaultKind> {};

TEST_P(EmulatedStoreFaults, NeverReachTheEngineAsWrongBytesOrAsAHang) {
  set_log_level(LogLevel::kError);  // the store says of every bad block what it did
  Rig rig(7);
  io::FaultRule rule;
  rule.kind = GetParam();
  // What is stuck holds its part of HBM for good: the 80 blocks there must outlast the run.
  rule.probability = rule.kind == io::FaultKind::kStuck ? 0.015 : 0.1;
  rule.latency = std::chrono::milliseconds(500);  // beyond the load deadline
  rig.engine.faults().add(rule);
  const auto requests = shared_prefixes(7, 300);
  const EngineResult result = rig.run(requests);
  EXPECT_EQ(result.wrong_blocks, 0U);
  ASSERT_EQ(result.records.size(), requests.size());
  for (const RequestRecord& record : result.records) {
    EXPECT_EQ(record.state, RequestState::kDone);
    EXPECT_EQ(record.wrong_blocks, 0U);
  }
  EXPECT_GT(rig.engine.faults().struck(rule.kind), 0U);
  rig.engine.release_stuck();
  rig.engine.faults().clear();
  rig.loop.run(rig.backend->close());
}

INSTANTIATE_TEST_SUITE_P(All, EmulatedStoreFaults,
                         ::testing::Values(io::FaultKind::kIoError, io::FaultKind::kShort,
                                           io::FaultKind::kTornWrite, io::FaultKind::kLostWrite,
                                           io::FaultKind::kMisdirected, io::FaultKind::kBitRot,
                                           io::FaultKind::kLatency, io::FaultKind::kStuck,
                                           io::FaultKind::kFull, io::FaultKind::kReadOnly),
                         [](const auto& info) { return std::string(to_string(info.param)); });

}  // namespace
}  // namespace forebay::engine
