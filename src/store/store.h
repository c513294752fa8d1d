// The tiered KV-cache store: DRAM over flash, one index, chains of blocks (DESIGN D2-D8).
//
// Lookups are answered from memory. get() reads straight into the caller's buffers; put() makes a
// block visible in DRAM at once and durable on flash behind the demand path. A cache may always say
// no: every fault below is a miss with a reason, within the deadline; it never says wrong.
//
// Units: bytes, nanoseconds on the loop's clock, tokens. Threads: the core of the loop; other cores
// reach it through Loop::post. Suspends: every Task; lookup(), touch() and stats() never do.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "block/device.h"
#include "core/cancel.h"
#include "core/task.h"
#include "store/key.h"
#include "store/lent_buffer.h"
#include "store/tier/flash.h"
#include "telemetry/histogram.h"

namespace forebay::store {

enum class Tier : std::uint8_t { kNone, kDram, kFlash };
inline constexpr std::size_t kTierCount = 3;

// Why a block was not delivered. Counted by reason in StoreStats.
enum class MissReason : std::uint8_t {
  kNone,      // it was delivered
  kAbsent,    // not in the store
  kCorrupt,   // did not prove itself; quarantined unless StoreOptions::keep_damaged
  kTimedOut,  // deadline
  kCancelled,
  kDevice,  // io error, device gone
  kBusy,    // bounded queue or pool full
  kLength,  // the caller's buffer is not the block's size
};
inline constexpr std::size_t kMissReasonCount = 8;
[[nodiscard]] const char* to_string(MissReason reason);
[[nodiscard]] const char* to_string(Tier tier);

struct TenantQuota {
  std::string tenant;
  std::uint64_t dram_bytes_max = 0;  // 0: no own limit
  std::uint64_t flash_bytes_max = 0;
  std::uint64_t bytes_per_second_max = 0;  // device bandwidth, burst of one second
  std::uint64_t operations_per_second_max = 0;
  std::uint32_t share = 1;  // of demand bandwidth under contention
};

struct StoreOptions {
  std::uint64_t dram_bytes = 0;    // 0: no DRAM tier
  bool dram_populated = false;     // all its pages are there when open() returns; else when used
  block::Device* flash = nullptr;  // null: no flash tier
  // read_in_flight_bytes_max is what the device holds at once, all classes and tenants together:
  // the rest waits in the scheduler, so it is also what a newcomer waits for.
  FlashOptions flash_options;
  std::string policy = "forebay";  // lru, s3fifo, gdsf, forebay
  std::string admission = "all";   // to flash: all, reuse (expected reuse filter)
  std::vector<TenantQuota> quotas;
  std::uint64_t seed = 1;
  Nanos prefill_ns_per_token{0};  // told by the engine; 0: learnt through observe_prefill()
  std::uint64_t write_back_bytes_max = 256 << 20;  // blocks waiting for flash, in DRAM
  Nanos put_wait_max{250'000'000};                 // for room there, before put() says kBusy
  std::uint64_t prefetch_bytes_max = 32 << 20;     // ahead-of-need window
  bool telemetry = true;
  // A block that does not prove itself stays where it is and is a miss each time: for tools that
  // look into a store and must not change what they find. Else it is removed (quarantine).
  bool keep_damaged = false;
};

// A key space registered with one store: small, and valid for that store's life.
struct SpaceId {
  std::uint16_t value = 0;
};

struct LookupResult {
  std::size_t present_blocks = 0;  // the leading run that is here
  std::size_t worth_blocks = 0;    // how much of it loads faster than it recomputes (D5)
  std::array<std::size_t, kTierCount> blocks_by_tier{};  // of the present run
  Nanos load_estimate{0};                                // of the worth run
  Nanos recompute_estimate{0};                           // of the same blocks
};

struct CallOptions {
  SpaceId space;  // whose call it is: another tenant's blocks are absent for it
  Nanos deadline = kForever;
  CancelSource* cancel = nullptr;
  block::OpClass op_class = block::OpClass::kDemand;
  std::uint64_t op_id = 0;
};

struct GetItem {
  BlockId id;
  LentBuffer buffer;  // exactly the block's size
  // Out:
  MissReason miss = MissReason::kAbsent;
  Tier tier = Tier::kNone;  // where it came from
};

struct GetSummary {
  std::size_t leading_blocks = 0;  // delivered from the start without a gap
  std::array<std::size_t, kTierCount> blocks_by_tier{};
  std::array<std::uint64_t, kTierCount> bytes_by_tier{};
  Nanos device_wait{0};  // time in which this call waited for flash
};

// The largest block a store takes.
inline constexpr std::uint32_t kBlockBytesMax = 64U << 20;

struct PutItem {
  BlockId id;
  BlockId parent = kNoParent;
  std::span<const std::byte> engine_key;  // kept on media, at most kEngineKeyBytesMax
  LentBuffer data;                        // copied before put() ends
  std::uint32_t token_count = 0;
  std::uint32_t chain_depth = 0;
  // Out: kNoSpace (quota), kBusy (write-back full), kReadOnly, kInvalid (size), kTimedOut,
  // kCancelled.
  Status status;
};

struct StoreStats {
  struct TierStats {
    std::uint64_t block_count = 0;
    std::uint64_t used_bytes = 0;
    std::uint64_t capacity_bytes = 0;
    std::uint64_t hit_blocks = 0;
    std::uint64_t hit_bytes = 0;
    std::uint64_t evicted_blocks = 0;
    std::uint64_t inserted_blocks = 0;
    telemetry::Histogram read_latency_ns;
    double read_bytes_per_second = 0;  // as measured by the cost model
  };
  std::array<TierStats, kTierCount> tiers;
  std::array<std::uint64_t, kMissReasonCount> misses{};
  std::uint64_t lookups = 0;
  std::uint64_t lookup_blocks = 0;
  std::uint64_t lookup_present_blocks = 0;
  std::uint64_t put_blocks = 0;
  std::uint64_t put_refused_blocks = 0;
  std::uint64_t admission_refused_blocks = 0;
  std::uint64_t quarantined_blocks = 0;
  std::uint64_t prefetch_hit_blocks = 0;
  std::uint64_t prefetch_late_blocks = 0;
  std::uint64_t prefetch_wasted_blocks = 0;
  std::uint64_t promoted_blocks = 0;
  std::uint64_t learning_writes = 0;           // of what the policies learned, to flash
  std::uint64_t learning_too_large = 0;        // of these, short of a model that found no room
  std::uint64_t learning_restored_models = 0;  // policies that went on from an earlier run
  std::uint64_t index_bytes = 0;               // all memory of the index and the policy
  FlashStats flash;
};

class BlockWalk;

class Store {
 public:
  [[nodiscard]] static Task<Result<std::unique_ptr<Store>>> open(io::Loop* loop,
                                                                 StoreOptions options);
  virtual ~Store() = default;

  // kInvalid: a name is too long; kBusy: more than 65,535 spaces.
  [[nodiscard]] virtual Result<SpaceId> register_space(const KeySpace& space) = 0;
  [[nodiscard]] virtual const KeySpace& space(SpaceId id) const = 0;

  // The longest leading run of `chain` that is present, from memory, without I/O.
  [[nodiscard]] virtual LookupResult lookup(std::span<const BlockId> chain, SpaceId space) = 0;
  // One block: its size in bytes, when present.
  [[nodiscard]] virtual std::optional<std::uint32_t> block_bytes(const BlockId& id) const = 0;
  // Loads; each item says what became of it. Items are one chain, in order.
  [[nodiscard]] virtual Task<GetSummary> get(std::span<GetItem> items, CallOptions call) = 0;
  [[nodiscard]] virtual Task<void> put(std::span<PutItem> items, CallOptions call) = 0;
  // These blocks were of use (a hit in the engine's own cache): keeps their heat, moves no bytes.
  virtual void touch(std::span<const BlockId> chain, SpaceId space) = 0;
  // The chain will be asked for soon; fills DRAM in the background until cancelled. call.cancel
  // must be cancelled when the request goes away, and before it is destroyed: what get() did not
  // take then leaves DRAM.
  virtual void prefetch(std::span<const BlockId> chain, CallOptions call) = 0;
  // Gone now and after a restart.
  [[nodiscard]] virtual Task<Status> remove(std::span<const BlockId> ids, CallOptions call) = 0;
  // Everything accepted so far is durable on flash (or was refused by admission) after this.
  // kTimedOut, kCancelled: the writing goes on, nobody waits for it; of `call`, deadline and cancel
  // count.
  [[nodiscard]] virtual Task<Status> flush(CallOptions call = {}) = 0;
  // The engine measured its prefill: feeds the cost model.
  virtual void observe_prefill(std::uint64_t tokens, Nanos took) = 0;
  // Every record read and checked, beside whatever goes on; of `call`, deadline and cancel count.
  [[nodiscard]] virtual Task<Result<FlashTier::VerifyResult>> verify(CallOptions call = {}) = 0;
  // Drains write-back, checkpoints, and waits for what the device still holds of calls that timed
  // out; no calls after. kTimedOut: a device did not end all that within 60 s, and buffers that
  // were lent stay in use. Destroying without close() is a crash, and safe.
  [[nodiscard]] virtual Task<Status> close() = 0;
  [[nodiscard]] virtual StoreStats stats() const = 0;
  // Latency histograms on or off from now on (StoreOptions::telemetry is how it starts).
  virtual void set_telemetry(bool on) = 0;
  // Every block, for listing, from memory; order unspecified. Of a block on flash alone the id's
  // first 16 bytes, then zeroes: no more is kept in memory.
  struct Entry {
    BlockId id;
    Tier tier;
    std::uint32_t bytes;
  };
  [[nodiscard]] virtual std::vector<Entry> list() const = 0;
  // Every block with all it was put with, parents first (store/block_walk.h); of `tenant` alone
  // unless that is empty.
  [[nodiscard]] virtual std::unique_ptr<BlockWalk> walk(std::string tenant) = 0;
};

}  // namespace forebay::store
