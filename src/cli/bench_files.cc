// The reads of the store's benchmark as an engine's own file tier makes them: one file a block, a
// pool of threads, no checksum.
#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <numeric>

#include "cli/bench_rig.h"
#include "cli/bench_store.h"
#include "engine/backend_files_io.h"
#include "engine/backend_files_pool.h"

namespace forebay::cli {
namespace {

constexpr double kGigabyte = 1e9;

class BlockFiles {
 public:
  BlockFiles(io::Loop& loop, const StoreBench& bench, std::uint64_t block_bytes)
      : loop_(loop),
        folder_(bench.folder + "/forebay-bench.files"),
        chain_blocks_(bench.chain_blocks),
        block_bytes_(block_bytes),
        rng_(bench.seed) {}
  BlockFiles(const BlockFiles&) = delete;
  BlockFiles& operator=(const BlockFiles&) = delete;
  ~BlockFiles() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

  Status write(std::uint64_t bytes) {
    std::filesystem::create_directories(folder_);
    FOREBAY_TRY(direct, engine::direct_io_works(folder_));
    direct_ = direct;
    const BenchArena arena(1, block_bytes_);
    for (chains_ = 0; (chains_ + 1) * chain_blocks_ * block_bytes_ <= bytes; ++chains_) {
      for (std::size_t depth = 0; depth < chain_blocks_; ++depth) {
        FOREBAY_TRY_STATUS(engine::write_block_file(path(chains_, depth),
                                                    {arena.block(0), block_bytes_}, direct_));
      }
    }
    return {};
  }

  // `requesters` chains at a time, a thread each.
  ReadOutcome read(std::size_t requesters, std::uint64_t bytes) {
    order_.resize(chains_);
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    std::shuffle(order_.begin(), order_.end(), rng_);
    left_ = std::max<std::size_t>(requesters, bytes / (chain_blocks_ * block_bytes_));
    missed_ = 0;
    const std::uint64_t total = left_ * chain_blocks_ * block_bytes_;
    std::vector<BenchArena> arenas;
    for (std::size_t i = 0; i < requesters; ++i) arenas.emplace_back(chain_blocks_, block_bytes_);
    engine::FilePool pool(loop_, requesters, requesters);
    const Nanos start = loop_.now();
    const Nanos cpu = process_cpu_time();
    for (const BenchArena& arena : arenas) read_next(pool, arena);
    while (running_ > 0) loop_.turn();
    ReadOutcome outcome = outcome_of(total, loop_.now() - start, process_cpu_time() - cpu);
    outcome.missed_blocks = missed_;
    return outcome;
  }

 private:
  [[nodiscard]] std::string path(std::size_t chain, std::size_t depth) const {
    return fmt::format("{}/{}-{}", folder_, chain, depth);
  }
  void read_next(engine::FilePool& pool, const BenchArena& arena) {
    if (left_ == 0) return;
    const std::size_t chain = order_[--left_ % order_.size()];
    auto job = std::make_shared<engine::FileJob>();
    job->direct = direct_;
    for (std::size_t depth = 0; depth < chain_blocks_; ++depth) {
      auto& item = job->items.emplace_back();
      item.path = path(chain, depth);
      item.bytes = {arena.block(depth), block_bytes_};
    }
    job->on_done = [this, &pool, &arena, items = &job->items] {
      --running_;
      for (const auto& item : *items) missed_ += item.done ? 0 : 1;
      read_next(pool, arena);
    };
    ++running_;
    if (!pool.submit(std::move(job))) --running_;
  }

  io::Loop& loop_;
  std::string folder_;
  std::size_t chain_blocks_;
  std::uint64_t block_bytes_;
  bool direct_ = true;
  Rng rng_;
  std::size_t chains_ = 0;
  std::vector<std::size_t> order_;
  std::size_t left_ = 0;
  std::size_t running_ = 0;
  std::uint64_t missed_ = 0;
};

BenchRow files_row(std::uint64_t block_bytes, std::size_t requesters, std::span<const double> ratio,
                   const ReadOutcome& ours, const ReadOutcome& files, std::uint64_t missed) {
  auto row =
      row_of(fmt::format("files-read-{}k-{}", block_bytes / kKiB, requesters), "ratio", ratio);
  row.reference = fmt::format(
      "ours {:.2f} GB/s, {:.3f} CPU s/GiB with every check; {} threads, one file a block, without: "
      "{:.2f} GB/s, {:.3f} (last round)",
      ours.bytes_per_second / kGigabyte, ours.cpu_seconds_per_gib, requesters,
      files.bytes_per_second / kGigabyte, files.cpu_seconds_per_gib);
  if (missed != 0) {
    row.value = 0;  // a miss is not a fast read
    row.reference += fmt::format("; {} blocks MISSED", missed);
  }
  return row;
}

}  // namespace

Result<std::vector<BenchRow>> bench_files(const StoreBench& bench) {
  std::vector<BenchRow> rows;
  for (const std::uint64_t block_bytes : bench.block_bytes) {
    FOREBAY_TRY(rig, StoreRig::make(rig_options(bench, block_bytes)));
    FOREBAY_TRY(filled, rig->fill(fill_bytes(bench)));
    (void)filled;
    BlockFiles files(rig->loop(), bench, block_bytes);
    FOREBAY_TRY_STATUS(files.write(fill_bytes(bench)));
    for (const std::size_t requesters : {std::size_t{1}, std::size_t{16}}) {
      std::vector<double> ratio;
      ReadOutcome ours;
      ReadOutcome theirs;
      std::uint64_t missed = 0;
      for (std::size_t round = 0; round < bench.rounds; ++round) {
        // Who goes first alternates, so that a drift of the disk favours neither.
        if (round % 2 == 0) ours = rig->read(requesters, bench.round_bytes);
        theirs = files.read(requesters, bench.round_bytes);
        if (round % 2 == 1) ours = rig->read(requesters, bench.round_bytes);
        ratio.push_back(ours.bytes_per_second / theirs.bytes_per_second);
        missed += ours.missed_blocks + theirs.missed_blocks;
      }
      rows.push_back(files_row(block_bytes, requesters, ratio, ours, theirs, missed));
    }
  }
  return rows;
}

}  // namespace forebay::cli
