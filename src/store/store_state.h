// Everything that one open store consists of, shared by its calls and its work in the background.
//
// A call holds a reference while it runs, so a store that is destroyed in mid-flight (a crash, for
// the tests) leaves no call with dangling state. Threads: one core.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "block/scheduled.h"
#include "store/admission.h"
#include "store/cost_model.h"
#include "store/learning.h"
#include "store/prefetch.h"
#include "store/recovery.h"
#include "store/residency.h"
#include "store/signal.h"
#include "store/spaces.h"
#include "store/store.h"
#include "store/touch_log.h"
#include "store/write_back.h"

namespace forebay::store {

struct StoreCounters {
  std::array<std::uint64_t, kMissReasonCount> misses{};
  std::array<std::uint64_t, kTierCount> hit_blocks{};
  std::array<std::uint64_t, kTierCount> hit_bytes{};
  std::array<telemetry::Histogram, kTierCount> read_latency_ns;
  std::uint64_t lookups = 0;
  std::uint64_t lookup_blocks = 0;
  std::uint64_t lookup_present_blocks = 0;
  std::uint64_t put_blocks = 0;
  std::uint64_t put_refused_blocks = 0;
  std::uint64_t admission_refused_blocks = 0;
  std::uint64_t quarantined_blocks = 0;
  std::uint64_t prefetch_hit_blocks = 0;
  std::uint64_t prefetch_late_blocks = 0;
  std::uint64_t promoted_blocks = 0;
};

struct StoreState : FlashOwner, std::enable_shared_from_this<StoreState> {
  StoreState(io::Loop* loop_of_core, StoreOptions open_options);

  io::Loop* loop;
  StoreOptions options;
  Spaces spaces;
  std::unique_ptr<Residency> residency;  // made by open
  std::unique_ptr<Admission> admission;
  CostModel cost;
  WriteBack write_back;
  TouchLog touches;
  Learning learning;
  Prefetcher prefetcher;
  StoreCounters counters;
  bool closed = false;         // no new work
  bool abandoned = false;      // destroyed: what waits will not be written any more
  bool flash_gone = false;     // the device vanished; a probe may find it back
  Nanos flash_writes_from{0};  // after a refused write: not tried again before this
  // Classes and tenants' shares on the flash device; the tier sees only this.
  std::shared_ptr<block::ScheduledDevice> scheduled;
  std::unique_ptr<Recovery> recovery;  // while the flash tier opens
  std::unique_ptr<FlashTier> flash;    // last: goes first, while its owner is whole

  [[nodiscard]] Nanos now() const { return loop->now(); }
  [[nodiscard]] Index& index() { return residency->index(); }
  [[nodiscard]] bool flash_takes_writes() const {
    return flash != nullptr && !closed && now() >= flash_writes_from;
  }

  [[nodiscard]] TenantId tenant_of(SpaceId space) const {
    return spaces.known(space) ? spaces.tenant_of(space) : 0;
  }
  // A block is its tenant's alone, even where another tenant knows its name.
  [[nodiscard]] bool may_use(SpaceId space, const IndexEntry& entry) const {
    return spaces.known(space) && spaces.tenant_of(entry.kind) == spaces.tenant_of(space);
  }
  void note_latency(Tier tier, Nanos took) {
    if (!options.telemetry) return;
    counters.read_latency_ns[static_cast<std::size_t>(tier)].record(
        static_cast<std::uint64_t>(took.count()));
  }

  // FlashOwner.
  void on_recovered(const RecordFacts& facts, FlashPage page) override;
  void on_recovered_batch(std::span<const RecoveredRecord> batch) override;
  void on_recovery_size(std::uint64_t record_count) override;
  void on_kept(std::span<const std::byte> bytes) override { learning.restore(*this, bytes); }
  [[nodiscard]] bool is_live(const BlockId& id, FlashPage page) override;
  [[nodiscard]] double worth(const BlockId& id, FlashPage page) override;
  void on_moved(const BlockId& id, FlashPage from, FlashPage to) override;
  void on_dropped(const BlockId& id, FlashPage page) override;
  [[nodiscard]] std::uint32_t heat_of(const BlockId& id, FlashPage page) override;

 private:
  // The slot of this very copy, or kNoSlot.
  [[nodiscard]] Slot slot_at(const BlockId& id, FlashPage page);
};

using SharedState = std::shared_ptr<StoreState>;

// Opening in steps: a state without a flash tier, whoever sets `flash`, and the store's face.
[[nodiscard]] Result<SharedState> make_state(io::Loop* loop, StoreOptions options);
[[nodiscard]] std::unique_ptr<Store> make_store(SharedState state);

// Lists what was recovered, and gives back what was found twice (recovery.cc).
void finish_recovery(StoreState& state);

// The calls of Store: lookup.cc, get.cc, put.cc, remove.cc, maintenance.cc.
[[nodiscard]] Task<GetSummary> get_blocks(SharedState state, std::span<GetItem> items,
                                          CallOptions call);
[[nodiscard]] Task<void> put_blocks(SharedState state, std::span<PutItem> items, CallOptions call);
[[nodiscard]] Task<Status> remove_blocks(SharedState state, std::span<const BlockId> ids,
                                         CallOptions call);

[[nodiscard]] LookupResult lookup_chain(StoreState& state, std::span<const BlockId> chain,
                                        SpaceId space);
// Reads the first blocks of `chain`, on flash, to see how fast the tier is now (probe.cc).
void probe_flash(StoreState& state, std::span<const BlockId> chain);
void touch_chain(StoreState& state, std::span<const BlockId> chain, SpaceId space);
// kTimedOut or kCancelled once nobody waits for `call` any more.
[[nodiscard]] Status still_wanted(const StoreState& state, const CallOptions& call, Literal what);
[[nodiscard]] Task<Status> flush_store(SharedState state, CallOptions call);
[[nodiscard]] Task<Result<FlashTier::VerifyResult>> verify_store(SharedState state,
                                                                 CallOptions call);
[[nodiscard]] Task<Status> close_store(SharedState state);
[[nodiscard]] StoreStats collect_stats(const StoreState& state);
[[nodiscard]] std::vector<Store::Entry> list_blocks(const StoreState& state);
[[nodiscard]] std::unique_ptr<BlockWalk> walk_blocks(SharedState state, std::string tenant);

// Records of the wrong content or identity: out of the index, durably forgotten, counted, logged.
void quarantine(StoreState& state, Slot slot, const BlockId& id);
// Evicts a block's copy on flash.
void give_up_flash(StoreState& state, Slot slot);
// Forgets a record on flash in the background.
void forget_behind(StoreState& state, const BlockId& id, FlashPage page, std::uint32_t data_bytes,
                   bool durable);

}  // namespace forebay::store
