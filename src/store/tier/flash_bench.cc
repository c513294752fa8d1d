// The flash tier on a real file, and the opening of ten terabytes that exist only as arithmetic.
//
//   FOREBAY_BENCH_FILE=/path   where the file of 1.5 GiB goes (default: the current directory)
//
// Prints bytes/s, and CPU seconds a GiB of the whole process, kernel included.
#include <benchmark/benchmark.h>
#include <sys/mman.h>

#include <cstdlib>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "block/file.h"
#include "core/bytes.h"
#include "core/crc32c.h"
#include "core/rng.h"
#include "io/engine.h"
#include "store/tier/flash.h"
#include "store/tier/flash_summary.h"

namespace forebay::store {
namespace {

constexpr std::uint64_t kFileBytes = 1536 * kMiB;
constexpr std::uint64_t kFilledBytes = 1024 * kMiB;
constexpr std::size_t kChainBlocks = 32;

BlockId bench_id(std::uint64_t number) {
  BlockId id;
  for (std::size_t i = 0; i < 4; ++i) {
    const std::uint64_t word = mix64(number * 4 + i + 1);
    std::memcpy(id.digest.data() + i * 8, &word, sizeof word);
  }
  return id;
}

// Knows pages by block number; drops nothing.
class BenchOwner final : public FlashOwner {
 public:
  void on_recovered(const RecordFacts& facts, FlashPage) override { bytes += facts.data_bytes; }
  void on_recovered_batch(std::span<const RecoveredRecord> batch) override {
    records += batch.size();
    for (const RecoveredRecord& record : batch) BenchOwner::on_recovered(record.facts, record.page);
  }
  bool is_live(const BlockId&, FlashPage) override { return true; }
  double worth(const BlockId&, FlashPage) override { return 1; }
  void on_moved(const BlockId&, FlashPage, FlashPage) override {}
  void on_dropped(const BlockId&, FlashPage) override {}
  std::uint32_t heat_of(const BlockId&, FlashPage) override { return 0; }
  std::uint64_t records = 0;
  std::uint64_t bytes = 0;
};

// Huge-page memory, cut into blocks.
struct Arena {
  explicit Arena(std::size_t size)
      : bytes(size), memory(static_cast<std::byte*>(std::aligned_alloc(2 * kMiB, size))) {
    ::madvise(memory.get(), size, MADV_HUGEPAGE);
    for (std::size_t i = 0; i < size; i += 8) {
      const std::uint64_t word = mix64(i);
      std::memcpy(memory.get() + i, &word, 8);
    }
  }
  struct Free {
    void operator()(std::byte* at) const { std::free(at); }
  };
  std::size_t bytes;
  std::unique_ptr<std::byte, Free> memory;
};

// A tier on a real file, filled once with chains of one block size.
class FileTier {
 public:
  explicit FileTier(std::uint32_t block_bytes)
      : block(block_bytes), arena(std::make_shared<Arena>(kChainBlocks * block_bytes)) {
    const char* wanted = std::getenv("FOREBAY_BENCH_FILE");
    path_ = wanted == nullptr ? "flash_bench.img" : wanted;
    engine_ = io::make_engine(io::EngineChoice::kAuto).value();
    loop = std::make_unique<io::Loop>(*engine_);
    block::OpenDevice open;
    open.size_bytes = kFileBytes;
    open.create = true;
    device_ = block::open_file_device(*loop, path_, open).value();
    FlashOptions options;
    options.format = true;
    tier = loop->run(FlashTier::open(device_.get(), &owner_, options)).value();
    for (std::size_t i = 0; i < kChainBlocks; ++i) {
      pieces.push_back({arena->memory.get() + i * block, block});
    }
  }
  ~FileTier() {
    (void)loop->run(tier->close());
    tier.reset();
    for (int i = 0; i < 10; ++i) loop->turn();
    device_.reset();
    std::remove(path_.c_str());
  }

  Task<std::uint64_t> append_chain(std::uint64_t first) {
    std::vector<FlashAppend> items(kChainBlocks);
    for (std::size_t i = 0; i < items.size(); ++i) {
      items[i].facts.id = bench_id(first + i);
      items[i].facts.tenant = "bench";
      items[i].facts.data_bytes = block;
      items[i].data = {{&pieces[i], 1}, arena};
    }
    FlashCall call;
    call.io.op_class = block::OpClass::kWriteBack;
    co_await tier->append(items, call);
    std::uint64_t good = 0;
    for (const FlashAppend& item : items) {
      if (!item.status) continue;
      ++good;
      pages.push_back({item.facts.id, item.page});
    }
    co_return good;
  }
  void fill() {
    for (std::uint64_t first = 1; pages.size() * block < kFilledBytes; first += kChainBlocks) {
      (void)loop->run(append_chain(first));
    }
  }
  Task<std::uint64_t> read_chain(std::size_t first) {
    std::vector<FlashRead> items(kChainBlocks);
    for (std::size_t i = 0; i < items.size(); ++i) {
      items[i].id = pages[first + i].id;
      items[i].page = pages[first + i].page;
      items[i].data_bytes = block;
      items[i].data = {{&pieces[i], 1}, arena};
    }
    FlashCall call;
    co_await tier->read(items, call);
    std::uint64_t good = 0;
    for (const FlashRead& item : items) good += item.status.has_value();
    co_return good;
  }

  struct At {
    BlockId id;
    FlashPage page;
  };
  std::uint32_t block;
  std::shared_ptr<Arena> arena;
  std::vector<iovec> pieces;
  std::vector<At> pages;
  std::unique_ptr<io::Loop> loop;
  std::unique_ptr<FlashTier> tier;

 private:
  std::string path_;
  std::unique_ptr<io::Engine> engine_;
  std::unique_ptr<block::Device> device_;
  BenchOwner owner_;
};

void report(benchmark::State& state, std::uint64_t bytes, Nanos cpu) {
  state.SetBytesProcessed(static_cast<std::int64_t>(bytes));
  const double gib = static_cast<double>(bytes) / static_cast<double>(kGiB);
  state.counters["cpu_s_per_gib"] = static_cast<double>(cpu.count()) / 1e9 / gib;
}

void read_chains(benchmark::State& state) {
  FileTier file(static_cast<std::uint32_t>(state.range(0)));
  file.fill();
  Rng rng(7);
  std::uint64_t bytes = 0;
  const Nanos cpu = process_cpu_time();
  const std::size_t chains = file.pages.size() / kChainBlocks;
  for (auto _ : state) {
    const std::size_t first = rng.below(chains) * kChainBlocks;
    const std::uint64_t good = file.loop->run(file.read_chain(first));
    if (good != kChainBlocks) state.SkipWithError("a read failed");
    bytes += good * file.block;
  }
  report(state, bytes, process_cpu_time() - cpu);
}
BENCHMARK(read_chains)->Arg(256 << 10)->Arg(2 << 20)->UseRealTime()->Unit(benchmark::kMillisecond);

void append_chains(benchmark::State& state) {
  FileTier file(static_cast<std::uint32_t>(state.range(0)));
  std::uint64_t bytes = 0;
  std::uint64_t first = 1;
  const Nanos cpu = process_cpu_time();
  for (auto _ : state) {
    const std::uint64_t good = file.loop->run(file.append_chain(first));
    if (good != kChainBlocks) state.SkipWithError("an append failed");
    first += kChainBlocks;
    bytes += good * file.block;
  }
  report(state, bytes, process_cpu_time() - cpu);
}
BENCHMARK(append_chains)->Arg(2 << 20)->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace forebay::store
