#include "engine/backend_files.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "core/bytes.h"
#include "core/log.h"
#include "engine/backend_files_io.h"

namespace forebay::engine {
namespace {

constexpr auto kFileTier = static_cast<std::size_t>(store::Tier::kFlash);

}  // namespace

struct BackendFiles::Transfer {
  explicit Transfer(io::Loop& loop) : ended(loop) {}
  std::vector<std::shared_ptr<FileJob>> jobs;
  std::vector<std::size_t> first_block;  // of each job
  std::size_t pending = 0;
  io::Event ended;

  // Which of the transfer's blocks are done; those of a job that was refused are not.
  [[nodiscard]] std::vector<bool> done(std::size_t block_count) const {
    std::vector<bool> flags(block_count, false);
    for (std::size_t j = 0; j < jobs.size(); ++j) {
      for (std::size_t i = 0; i < jobs[j]->items.size(); ++i) {
        flags[first_block[j] + i] = jobs[j]->items[i].done.load(std::memory_order_acquire);
      }
    }
    return flags;
  }
};

struct BackendFiles::Shared {
  explicit Shared(io::Loop& loop) : idle(loop) {}
  std::size_t jobs_now = 0;
  bool interrupted = false;
  std::vector<std::weak_ptr<FileJob>> jobs;  // to abandon
  io::Event idle;

  void job_ended() {
    if (--jobs_now == 0) idle.set();
  }
};

Result<std::unique_ptr<BackendFiles>> BackendFiles::make(io::Loop* loop, std::string name,
                                                         FilesOptions options,
                                                         std::unique_ptr<BackendStore> dram) {
  FileIndex index(options.directory, options.capacity_bytes);
  FOREBAY_TRY_STATUS(index.scan());
  if (options.direct) {
    FOREBAY_TRY(works, direct_io_works(options.directory));
    options.direct = works;
    if (!works)
      log_warn("{}: no direct I/O in {}: through the page cache", name, options.directory);
  }
  return std::unique_ptr<BackendFiles>(new BackendFiles(loop, std::move(name), std::move(options),
                                                        std::move(dram), std::move(index)));
}

BackendFiles::BackendFiles(io::Loop* loop, std::string name, FilesOptions options,
                           std::unique_ptr<BackendStore> dram, FileIndex index)
    : loop_(loop),
      name_(std::move(name)),
      options_(std::move(options)),
      dram_(std::move(dram)),
      index_(std::move(index)),
      shared_(std::make_shared<Shared>(*loop)),
      readers_(std::make_unique<FilePool>(*loop, options_.read_threads, options_.jobs_max)),
      writers_(std::make_unique<FilePool>(*loop, options_.write_threads, options_.jobs_max)) {}

BackendFiles::~BackendFiles() { BackendFiles::interrupt(); }

bool BackendFiles::in_dram(const store::BlockId& id) const {
  return dram_ && dram_->store().block_bytes(id).has_value();
}

bool BackendFiles::has_file(const store::BlockId& id) const {
  return ::faccessat(AT_FDCWD, index_.path_of(id).c_str(), F_OK, 0) == 0;
}

// As peers do: everything that is there is worth loading.
KvLookup BackendFiles::lookup(std::span<const store::BlockId> chain) {
  std::size_t run = 0;
  while (run < chain.size() && (in_dram(chain[run]) || has_file(chain[run]))) ++run;
  return {.present_blocks = run, .worth_blocks = run};
}

Task<KvLoad> BackendFiles::load(std::span<KvBlock> blocks, std::uint64_t op_id, Nanos deadline) {
  KvOp op;
  op.op_id = op_id;
  op.start = loop_->now();
  std::vector<KvBlock> from_dram;
  std::vector<KvBlock> from_files;
  std::vector<bool> is_file(blocks.size());
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    is_file[i] = !in_dram(blocks[i].id);
    (is_file[i] ? from_files : from_dram).push_back(blocks[i]);
  }
  const auto transfer = start(from_files, false);
  KvLoad report;
  if (!from_dram.empty()) report = co_await dram_->load(from_dram, op_id, deadline);
  co_await wait_for(transfer, deadline);
  report.device_wait = from_files.empty() ? Nanos(0) : loop_->now() - op.start;

  const std::vector<bool> read = transfer->done(from_files.size());
  const std::size_t dram_blocks = std::exchange(report.leading_blocks, 0);
  std::size_t file_at = 0;
  std::size_t dram_at = 0;
  for (const bool file : is_file) {
    if (file ? !read[file_at++] : dram_at++ >= dram_blocks) break;
    ++report.leading_blocks;
  }
  std::vector<KvBlock> delivered;
  for (std::size_t i = 0; i < from_files.size(); ++i) {
    if (read[i]) delivered.push_back(from_files[i]);
  }
  op.failed_blocks = static_cast<std::uint32_t>(from_files.size() - delivered.size());
  if (!from_files.empty()) note_load(delivered, op);
  report.blocks_by_tier[kFileTier] = delivered.size();
  for (const KvBlock& block : delivered) report.bytes_by_tier[kFileTier] += block.bytes.size();
  if (dram_ && !delivered.empty()) {
    ++shared_->jobs_now;
    loop_->spawn(promote(std::move(delivered), op_id));
  }
  co_return report;
}

void BackendFiles::note_load(std::span<const KvBlock> delivered, const KvOp& begun) {
  KvOp op = begun;
  op.tier = store::Tier::kFlash;
  op.end = loop_->now();
  op.block_count = static_cast<std::uint32_t>(delivered.size());
  for (const KvBlock& block : delivered) op.bytes += block.bytes.size();
  // From the end of the chain, so that its first blocks stay longest.
  for (auto block = delivered.rbegin(); block != delivered.rend(); ++block) index_.use(block->id);
  tier_.hit_blocks += op.block_count;
  tier_.hit_bytes += op.bytes;
  tier_.read_latency_ns.record(static_cast<std::uint64_t>((op.end - op.start).count()));
  missed_blocks_ += op.failed_blocks;
  ops_.add(op);
}

// What came from files goes into DRAM, off the load's path; the blocks stay leased meanwhile.
Task<void> BackendFiles::promote(std::vector<KvBlock> blocks, std::uint64_t op_id) {
  co_await dram_->save(blocks, op_id);
  shared_->job_ended();
}

std::shared_ptr<BackendFiles::Transfer> BackendFiles::start(std::span<const KvBlock> blocks,
                                                            bool write) {
  auto transfer = std::make_shared<Transfer>(*loop_);
  if (shared_->interrupted) return transfer;
  const std::size_t per_job = options_.blocks_per_job == 0 ? std::max<std::size_t>(1, blocks.size())
                                                           : options_.blocks_per_job;
  for (std::size_t first = 0; first < blocks.size(); first += per_job) {
    const auto part = blocks.subspan(first, std::min(per_job, blocks.size() - first));
    if (!submit(transfer, part, write)) break;
    transfer->first_block.push_back(first);
  }
  return transfer;
}

bool BackendFiles::submit(const std::shared_ptr<Transfer>& transfer,
                          std::span<const KvBlock> blocks, bool write) {
  auto job = std::make_shared<FileJob>();
  job->write = write;
  job->direct = options_.direct;
  for (const KvBlock& block : blocks) {
    FileJob::Item& item = job->items.emplace_back();
    item.path = index_.path_of(block.id);
    item.bytes = block.bytes;
    item.owner = block.owner;
  }
  if (write) job->removals = std::exchange(removals_, {});
  job->on_done = [shared = shared_, weak = std::weak_ptr(transfer)] {
    shared->job_ended();
    const auto waiting = weak.lock();
    if (waiting && --waiting->pending == 0) waiting->ended.set();
  };
  if (!(write ? *writers_ : *readers_).submit(job)) {
    removals_ = std::move(job->removals);
    return false;
  }
  std::erase_if(shared_->jobs, [](const auto& old) { return old.expired(); });
  shared_->jobs.push_back(job);
  ++shared_->jobs_now;
  ++transfer->pending;
  transfer->jobs.push_back(std::move(job));
  return true;
}

Task<void> BackendFiles::wait_for(std::shared_ptr<Transfer> transfer, Nanos deadline) {
  if (transfer->pending == 0) co_return;
  io::Loop::Timer timer;
  if (deadline < kForever) {
    loop_->arm(timer, deadline, [transfer] { transfer->ended.set(); });
  }
  co_await transfer->ended.wait();
  for (const auto& job : transfer->jobs) job->abandoned.store(true, std::memory_order_relaxed);
}

// The blocks to write: those without a file, as far as the budget goes.
std::vector<KvBlock> BackendFiles::admit(std::span<const KvBlock> blocks) {
  std::vector<bool> wanted(blocks.size());
  for (std::size_t i = blocks.size(); i > 0; --i) {
    const KvBlock& block = blocks[i - 1];
    if (index_.contains(block.id) && has_file(block.id)) {
      index_.use(block.id);
    } else {
      wanted[i - 1] = index_.add(block.id, round_up(block.bytes.size(), kFilePageBytes), removals_);
    }
  }
  std::vector<KvBlock> admitted;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    // A block may have had to make room for one of its own chain.
    if (wanted[i] && index_.contains(blocks[i].id)) admitted.push_back(blocks[i]);
  }
  return admitted;
}

Task<void> BackendFiles::save(std::span<KvBlock> blocks, std::uint64_t op_id) {
  KvOp op;
  op.op_id = op_id;
  op.write = true;
  op.tier = store::Tier::kFlash;
  if (dram_) co_await dram_->save(blocks, op_id);
  op.start = loop_->now();
  const std::vector<KvBlock> admitted = admit(blocks);
  const auto transfer = start(admitted, true);
  co_await wait_for(transfer, kForever);
  const std::vector<bool> written = transfer->done(admitted.size());
  for (std::size_t i = 0; i < admitted.size(); ++i) {
    if (written[i]) {
      ++op.block_count;
      op.bytes += admitted[i].bytes.size();
    } else {
      ++op.failed_blocks;
      index_.forget(admitted[i].id);
    }
  }
  tier_.inserted_blocks += op.block_count;
  refused_blocks_ += op.failed_blocks;
  op.end = loop_->now();
  if (!admitted.empty()) ops_.add(op);
}

void BackendFiles::use(std::span<const store::BlockId> chain) {
  for (auto id = chain.rbegin(); id != chain.rend(); ++id) index_.use(*id);
}

void BackendFiles::touch(std::span<const store::BlockId> chain) {
  use(chain);
  if (dram_) dram_->touch(chain);
}

void BackendFiles::observe_prefill(std::uint64_t tokens, Nanos took) {
  if (dram_) dram_->observe_prefill(tokens, took);
}

void BackendFiles::interrupt() {
  shared_->interrupted = true;
  for (const auto& weak : shared_->jobs) {
    if (const auto job = weak.lock()) job->abandoned.store(true, std::memory_order_relaxed);
  }
  if (dram_) dram_->interrupt();
}

Task<void> BackendFiles::drain() {
  while (shared_->jobs_now > 0) {
    shared_->idle.reset();
    co_await shared_->idle.wait();
  }
  if (dram_) co_await dram_->drain();
}

Task<void> BackendFiles::close() {
  co_await drain();
  readers_.reset();
  writers_.reset();
  shared_->interrupted = true;
  if (dram_) co_await dram_->close();
}

store::StoreStats BackendFiles::stats() const {
  store::StoreStats stats = dram_ ? dram_->stats() : store::StoreStats{};
  auto& files = stats.tiers[kFileTier];
  files = tier_;
  files.block_count = index_.block_count();
  files.used_bytes = index_.used_bytes();
  files.capacity_bytes = index_.capacity_bytes();
  files.evicted_blocks = index_.evicted_count();
  stats.put_refused_blocks += refused_blocks_;
  stats.misses[static_cast<std::size_t>(store::MissReason::kDevice)] += missed_blocks_;
  return stats;
}

std::uint64_t BackendFiles::dropped_ops() const {
  return ops_.dropped_count() + (dram_ ? dram_->dropped_ops() : 0);
}

// The DRAM tier's rows and the files', by time.
std::vector<KvOp> BackendFiles::take_ops() {
  std::vector<KvOp> ops = ops_.take();
  if (dram_) {
    const std::vector<KvOp> dram = dram_->take_ops();
    ops.insert(ops.end(), dram.begin(), dram.end());
    std::ranges::sort(
        ops, {}, [](const KvOp& op) { return std::tuple(op.start, op.op_id, op.write, op.tier); });
  }
  return ops;
}

}  // namespace forebay::engine
