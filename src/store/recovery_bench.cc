// What the store itself adds to reopening: records of 10 TB in 256 KiB blocks come in batches, as
// the flash tier hands them over, and end as a listed, warm index. Prints seconds and bytes of
// memory a block (index, hash slots and policy).
#include <benchmark/benchmark.h>

#include <memory>
#include <vector>

#include "core/clock.h"
#include "core/rng.h"
#include "store/recovery.h"

namespace forebay::store {
namespace {

constexpr std::size_t kBatchRecords = 256;
constexpr std::uint64_t kChainBlocks = 64;

BlockId id_of(std::uint64_t number) {
  BlockId id;
  for (std::size_t i = 0; i < 4; ++i) {
    const std::uint64_t word = mix64(number * 4 + i + 1);
    std::memcpy(id.digest.data() + i * 8, &word, sizeof word);
  }
  return id;
}

RecoveredRecord record_of(std::uint64_t number) {
  RecoveredRecord record;
  record.page = static_cast<FlashPage>(number * 65 + 1);
  record.facts.id = id_of(number);
  if (number % kChainBlocks != 0) record.facts.parent = id_of(number - 1);
  record.facts.tenant = "tenant";
  record.facts.layout_fingerprint = "layout";
  record.facts.data_bytes = 262144;
  record.facts.token_count = 16;
  record.facts.heat = heat_of_worth(1.0 / static_cast<double>(1 + mix64(number) % 1000));
  return record;
}

void recover(benchmark::State& state) {
  const auto blocks = static_cast<std::uint64_t>(state.range(0));
  for (auto _ : state) {
    Spaces spaces({});
    ResidencyParts parts;
    parts.spaces = &spaces;
    parts.dram_policy = policy::make_policy("lru", {});
    parts.flash_policy = policy::make_policy("forebay", {.capacity_blocks = blocks});
    Residency residency(std::move(parts));
    Recovery recovery(&residency, &spaces);
    const SystemClock clock;
    Nanos took{0};
    const auto timed = [&](auto&& step) {
      const Nanos start = clock.now();
      step();
      took += clock.now() - start;
    };
    timed([&] { recovery.expect(blocks); });
    std::vector<RecoveredRecord> batch;
    for (std::uint64_t i = 0; i < blocks; ++i) {
      batch.push_back(record_of(i));
      if (batch.size() < kBatchRecords && i + 1 < blocks) continue;
      timed([&] { recovery.take(batch); });
      batch.clear();
    }
    timed([&] { recovery.finish(); });
    state.SetIterationTime(std::chrono::duration<double>(took).count());
    state.counters["seconds"] = std::chrono::duration<double>(took).count();
    state.counters["bytes_per_block"] =
        static_cast<double>(residency.memory_bytes()) / static_cast<double>(blocks);
  }
}

BENCHMARK(recover)->Arg(1'000'000)->Iterations(1)->UseManualTime();
BENCHMARK(recover)->Arg(40'000'000)->Iterations(1)->UseManualTime();

}  // namespace
}  // namespace forebay::store
