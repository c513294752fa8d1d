// A store on a fresh file, filled with chains of blocks, for the benchmarks to read.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/bench_arena.h"
#include "cli/bench_store.h"
#include "cli/open_store.h"
#include "core/rng.h"

namespace forebay::cli {

struct RigOptions {
  std::string path;
  std::uint64_t size_bytes = 0;
  std::uint64_t block_bytes = 0;
  std::uint64_t in_flight_bytes = 32 << 20;
  std::size_t chain_blocks = 32;
  std::uint64_t dram_bytes = 0;
  std::uint64_t seed = 1;
};

struct ReadOutcome {
  double bytes_per_second = 0;
  double cpu_seconds_per_gib = 0;
  std::uint64_t missed_blocks = 0;
};

// The rig that the store's rows have in common, and how much it takes without evicting.
[[nodiscard]] RigOptions rig_options(const StoreBench& bench, std::uint64_t block_bytes);
[[nodiscard]] std::uint64_t fill_bytes(const StoreBench& bench);
// A rate and a cost from what was moved, how long it took and what CPU it took.
[[nodiscard]] ReadOutcome outcome_of(std::uint64_t bytes, Nanos took, Nanos cpu);

class StoreRig {
 public:
  [[nodiscard]] static Result<std::unique_ptr<StoreRig>> make(const RigOptions& options);
  ~StoreRig();
  StoreRig(const StoreRig&) = delete;
  StoreRig& operator=(const StoreRig&) = delete;

  // Puts chains until `bytes` are written, then flushes; bytes per second to durable.
  [[nodiscard]] Result<ReadOutcome> fill(std::uint64_t bytes);
  // `requesters` at once, each loading whole chains in seeded order until `bytes` are read in all.
  [[nodiscard]] ReadOutcome read(std::size_t requesters, std::uint64_t bytes);
  [[nodiscard]] std::size_t chain_count() const { return chains_; }
  [[nodiscard]] io::Loop& loop() { return *opened_.loop; }
  [[nodiscard]] store::Store& store() { return *opened_.store; }
  [[nodiscard]] store::SpaceId space() const { return space_; }
  [[nodiscard]] store::BlockId id(std::size_t chain, std::size_t depth) const;

 private:
  struct Reader;
  explicit StoreRig(RigOptions options) : options_(std::move(options)), rng_(options_.seed) {}
  Task<void> put_chain(std::size_t chain, BenchArena* arena, Status* status);
  Task<void> read_chains(Reader* reader);
  Task<void> join(std::vector<Task<void>> tasks);

  RigOptions options_;
  Rng rng_;
  OpenStore opened_;
  store::SpaceId space_;
  std::size_t chains_ = 0;
};

}  // namespace forebay::cli
