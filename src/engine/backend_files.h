// The arm that does what engines' own file tiers do: one file a block in a directory, a thread
// pool, direct I/O, a DRAM tier in front when there is one.
//
// Modelled on the file tier that ships with vLLM, so that the comparison is a fair one: the file
// system is the index (a lookup is one faccessat a block), a block is written beside its name and
// renamed, without fsync and without a checksum; loads and saves have pools of their own; by
// default one request is one job of one thread (blocks_per_job spreads it over more). What vLLM has
// not is a bound: here the directory is held to a budget, least recently used blocks go first.
//
// In real time only: its threads know nothing of a simulated clock. Ownership: owns the directory's
// contents and the DRAM store. Threads: the loop's; the pool's threads see only blocks of their
// job. Blocks: lookup() for the time of its system calls, as in the original. Limits: jobs_max.
#pragma once

#include <memory>
#include <string>

#include "engine/backend_files_index.h"
#include "engine/backend_files_pool.h"
#include "engine/backend_store.h"

namespace forebay::engine {

struct FilesOptions {
  std::string directory;             // made when absent; of this backend alone
  std::uint64_t capacity_bytes = 0;  // 0: no bound, as in the original
  std::size_t read_threads = 16;
  std::size_t write_threads = 16;
  std::size_t blocks_per_job = 0;  // 0: a request is one job
  std::size_t jobs_max = 256;      // waiting, in each pool
  bool direct = true;              // where the file system allows; said once when not
};

class BackendFiles final : public KvBackend {
 public:
  // `dram` may be null: a store with a DRAM tier only. kDenied, kNoSpace, kIo: the directory.
  [[nodiscard]] static Result<std::unique_ptr<BackendFiles>> make(
      io::Loop* loop, std::string name, FilesOptions options, std::unique_ptr<BackendStore> dram);
  ~BackendFiles() override;

  [[nodiscard]] std::string_view name() const override { return name_; }
  [[nodiscard]] KvLookup lookup(std::span<const store::BlockId> chain) override;
  [[nodiscard]] Task<KvLoad> load(std::span<KvBlock> blocks, std::uint64_t op_id,
                                  Nanos deadline) override;
  [[nodiscard]] Task<void> save(std::span<KvBlock> blocks, std::uint64_t op_id) override;
  void touch(std::span<const store::BlockId> chain) override;
  void observe_prefill(std::uint64_t tokens, Nanos took) override;
  void interrupt() override;
  [[nodiscard]] Task<void> drain() override;
  [[nodiscard]] Task<void> close() override;
  [[nodiscard]] store::StoreStats stats() const override;
  [[nodiscard]] std::vector<KvOp> take_ops() override;
  [[nodiscard]] std::uint64_t dropped_ops() const override;
  [[nodiscard]] bool direct() const { return options_.direct; }

 private:
  struct Transfer;  // the jobs of one load or save
  struct Shared;    // what jobs touch that end after this backend
  BackendFiles(io::Loop* loop, std::string name, FilesOptions options,
               std::unique_ptr<BackendStore> dram, FileIndex index);
  [[nodiscard]] bool in_dram(const store::BlockId& id) const;
  [[nodiscard]] bool has_file(const store::BlockId& id) const;
  [[nodiscard]] std::shared_ptr<Transfer> start(std::span<const KvBlock> blocks, bool write);
  [[nodiscard]] bool submit(const std::shared_ptr<Transfer>& transfer,
                            std::span<const KvBlock> blocks, bool write);
  Task<void> wait_for(std::shared_ptr<Transfer> transfer, Nanos deadline);
  Task<void> promote(std::vector<KvBlock> blocks, std::uint64_t op_id);
  [[nodiscard]] std::vector<KvBlock> admit(std::span<const KvBlock> blocks);
  void note_load(std::span<const KvBlock> delivered, const KvOp& op);
  void use(std::span<const store::BlockId> chain);

  io::Loop* loop_;
  std::string name_;
  FilesOptions options_;
  std::unique_ptr<BackendStore> dram_;
  FileIndex index_;
  std::vector<std::string> removals_;  // for the next write job
  std::shared_ptr<Shared> shared_;
  OpRing ops_;
  store::StoreStats::TierStats tier_;
  std::uint64_t refused_blocks_ = 0;
  std::uint64_t missed_blocks_ = 0;
  std::unique_ptr<FilePool> readers_;
  std::unique_ptr<FilePool> writers_;
};

}  // namespace forebay::engine
