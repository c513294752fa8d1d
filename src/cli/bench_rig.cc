#include "cli/bench_rig.h"

#include <filesystem>
#include <numeric>
#include <utility>

namespace forebay::cli {
namespace {

const store::KeySpace kSpace{"bench", "bench"};
constexpr double kBytesPerGib = static_cast<double>(kGiB);

}  // namespace

RigOptions rig_options(const StoreBench& bench, std::uint64_t block_bytes) {
  return {.path = bench.folder + "/forebay-bench.store",
          .size_bytes = bench.size_bytes,
          .block_bytes = block_bytes,
          .in_flight_bytes = bench.in_flight_bytes,
          .chain_blocks = bench.chain_blocks,
          .seed = bench.seed};
}

std::uint64_t fill_bytes(const StoreBench& bench) { return bench.size_bytes * 3 / 4; }

ReadOutcome outcome_of(std::uint64_t bytes, Nanos took, Nanos cpu) {
  const double seconds = std::chrono::duration<double>(took).count();
  return {.bytes_per_second = static_cast<double>(bytes) / std::max(seconds, 1e-9),
          .cpu_seconds_per_gib = std::chrono::duration<double>(cpu).count() /
                                 (static_cast<double>(bytes) / kBytesPerGib)};
}

// One requester: its buffers, and its share of the chains.
struct StoreRig::Reader {
  BenchArena arena;
  std::vector<std::size_t> chains;
  std::uint64_t missed = 0;
};

Result<std::unique_ptr<StoreRig>> StoreRig::make(const RigOptions& options) {
  std::unique_ptr<StoreRig> rig(new StoreRig(options));
  std::filesystem::remove(options.path);
  auto opened = open_flash_device(options.path, {.size_bytes = options.size_bytes});
  if (!opened) return fail(Errc::kIo, "open the bench device");
  rig->opened_ = std::move(*opened);
  store::StoreOptions store_options;
  store_options.flash = rig->opened_.device.get();
  store_options.flash_options.format = true;
  store_options.flash_options.read_in_flight_bytes_max = options.in_flight_bytes;
  store_options.flash_options.write_in_flight_bytes_max = options.in_flight_bytes;
  store_options.dram_bytes = options.dram_bytes;
  store_options.seed = options.seed;
  FOREBAY_TRY(store, rig->loop().run(
                         store::Store::open(rig->opened_.loop.get(), std::move(store_options))));
  rig->opened_.store = std::move(store);
  FOREBAY_TRY(space, rig->store().register_space(kSpace));
  rig->space_ = space;
  return rig;
}

StoreRig::~StoreRig() {
  if (opened_.store) (void)opened_.loop->run(opened_.store->close());
  opened_.store.reset();
  opened_.device.reset();
  std::filesystem::remove(options_.path);
}

store::BlockId StoreRig::id(std::size_t chain, std::size_t depth) const {
  const std::array<std::uint64_t, 2> key{chain, depth};
  return store::make_block_id(kSpace, std::as_bytes(std::span(key)));
}

Task<void> StoreRig::put_chain(std::size_t chain, BenchArena* arena, Status* status) {
  std::vector<store::PutItem> items(options_.chain_blocks);
  for (std::size_t depth = 0; depth < items.size(); ++depth) {
    // The first bytes differ from block to block; the rest may be alike.
    const std::array<std::uint64_t, 2> key{chain, depth};
    std::memcpy(arena->block(depth), key.data(), sizeof key);
    items[depth].id = id(chain, depth);
    items[depth].parent = depth == 0 ? store::kNoParent : id(chain, depth - 1);
    items[depth].data = arena->lend(depth);
    items[depth].chain_depth = static_cast<std::uint32_t>(depth);
  }
  // Full for longer than a put waits is no reason to stop filling: what was refused is put again.
  while (!items.empty()) {
    co_await opened_.store->put(items, {.space = space_});
    for (const auto& item : items) {
      if (!item.status && item.status.error().code != Errc::kBusy) *status = item.status;
    }
    if (!*status) co_return;
    std::erase_if(items, [](const store::PutItem& item) { return item.status.has_value(); });
  }
}

Result<ReadOutcome> StoreRig::fill(std::uint64_t bytes) {
  const std::uint64_t chain_bytes = options_.chain_blocks * options_.block_bytes;
  BenchArena arena(options_.chain_blocks, options_.block_bytes);
  const Nanos start = loop().now();
  const Nanos cpu = process_cpu_time();
  std::uint64_t written = 0;
  for (; written + chain_bytes <= bytes; written += chain_bytes) {
    Status status;
    loop().run(put_chain(chains_, &arena, &status));
    FOREBAY_TRY_STATUS(status);
    ++chains_;
  }
  FOREBAY_TRY_STATUS(loop().run(store().flush()));
  return outcome_of(written, loop().now() - start, process_cpu_time() - cpu);
}

Task<void> StoreRig::read_chains(Reader* reader) {
  std::vector<store::GetItem> items(options_.chain_blocks);
  for (const std::size_t chain : reader->chains) {
    for (std::size_t depth = 0; depth < items.size(); ++depth) {
      items[depth].id = id(chain, depth);
      items[depth].buffer = reader->arena.lend(depth);
    }
    const auto summary = co_await opened_.store->get(items, {.space = space_});
    reader->missed += items.size() - summary.leading_blocks;
  }
}

Task<void> StoreRig::join(std::vector<Task<void>> tasks) {
  for (Task<void>& task : tasks) task.start();
  for (Task<void>& task : tasks) co_await task;
}

ReadOutcome StoreRig::read(std::size_t requesters, std::uint64_t bytes) {
  const std::uint64_t chain_bytes = options_.chain_blocks * options_.block_bytes;
  const std::size_t wanted = std::max<std::size_t>(requesters, bytes / chain_bytes);
  std::vector<std::unique_ptr<Reader>> readers;
  for (std::size_t i = 0; i < requesters; ++i) {
    readers.push_back(std::make_unique<Reader>(
        Reader{BenchArena(options_.chain_blocks, options_.block_bytes), {}, 0}));
  }
  // Every chain once before any comes again.
  std::vector<std::size_t> order(chains_);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::shuffle(order.begin(), order.end(), rng_);
  for (std::size_t i = 0; i < wanted; ++i) {
    readers[i % requesters]->chains.push_back(order[i % order.size()]);
  }
  std::vector<Task<void>> tasks;
  for (auto& reader : readers) tasks.push_back(read_chains(reader.get()));
  const Nanos start = loop().now();
  const Nanos cpu = process_cpu_time();
  loop().run(join(std::move(tasks)));
  ReadOutcome outcome =
      outcome_of(wanted * chain_bytes, loop().now() - start, process_cpu_time() - cpu);
  for (const auto& reader : readers) outcome.missed_blocks += reader->missed;
  return outcome;
}

}  // namespace forebay::cli
