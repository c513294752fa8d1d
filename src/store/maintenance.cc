// Flush, verify, close, statistics, listing.
#include "core/log.h"
#include "store/store_state.h"

namespace forebay::store {
namespace {

constexpr std::size_t kFindingsMax = 1000;
// A device that does not take the last checkpoint by then costs a scan at the next open, no more.
constexpr Nanos kCloseWithin = std::chrono::seconds(60);

// Until the device has let go of everything that calls left there at their deadlines. What goes on
// in the device wakes nobody here, so it is looked at.
Task<Status> drain(SharedState state, Nanos deadline) {
  constexpr Nanos kLook{1'000'000};
  while (state->scheduled->pending() > 0) {
    if (state->now() >= deadline) {
      co_return fail(Errc::kTimedOut, "close: the device still holds reads or writes");
    }
    co_await state->loop->sleep_for(kLook);
  }
  co_return Status{};
}

}  // namespace

Status still_wanted(const StoreState& state, const CallOptions& call, Literal what) {
  if (call.cancel != nullptr && call.cancel->cancelled()) return fail(Errc::kCancelled, what);
  if (state.now() >= call.deadline) return fail(Errc::kTimedOut, what);
  return {};
}

Task<Status> flush_store(SharedState state, CallOptions call) {
  const std::uint64_t ticket = state->write_back.ticket();
  state->write_back.pump(*state);
  while (!state->write_back.done_before(ticket)) {
    if (const Status go_on = still_wanted(*state, call, "flush"); !go_on) co_return go_on;
    co_await state->write_back.changed().wait(call.deadline, call.cancel);
  }
  co_return state->write_back.take_failure();
}

Task<Result<FlashTier::VerifyResult>> verify_store(SharedState state, CallOptions call) {
  if (state->flash == nullptr) co_return FlashTier::VerifyResult{};
  FlashCall flash_call;
  flash_call.io.deadline = call.deadline;
  flash_call.cancel = call.cancel;
  co_return co_await state->flash->verify(kFindingsMax, flash_call);
}

Task<Status> close_store(SharedState state) {
  state->closed = true;
  state->prefetcher.changed().notify_all();
  const Status flushed = co_await flush_store(state, {});
  if (state->flash == nullptr) co_return flushed;
  state->touches.settle(*state);
  co_await state->learning.finish(state);
  FlashCall call;
  call.io.op_class = block::OpClass::kCheckpoint;
  call.io.deadline = state->now() + kCloseWithin;
  const Status closed = co_await state->flash->close(call);
  const Status drained =
      state->scheduled == nullptr ? Status{} : co_await drain(state, call.io.deadline);
  if (!closed) co_return closed;
  co_return flushed ? drained : flushed;
}

StoreStats collect_stats(const StoreState& state) {
  StoreStats stats;
  const StoreCounters& counters = state.counters;
  const Residency& residency = *state.residency;
  for (std::size_t at = 0; at < kTierCount; ++at) {
    StoreStats::TierStats& tier = stats.tiers[at];
    const Residency::TierUse& use = residency.use(static_cast<Tier>(at));
    tier.block_count = use.block_count;
    tier.used_bytes = use.used_bytes;
    tier.inserted_blocks = use.inserted_blocks;
    tier.evicted_blocks = use.evicted_blocks;
    tier.hit_blocks = counters.hit_blocks[at];
    tier.hit_bytes = counters.hit_bytes[at];
    tier.read_latency_ns = counters.read_latency_ns[at];
  }
  StoreStats::TierStats& dram = stats.tiers[static_cast<std::size_t>(Tier::kDram)];
  if (!residency.staging()) dram.capacity_bytes = residency.dram()->capacity_bytes();
  dram.read_bytes_per_second = state.cost.dram().bytes_per_second();
  StoreStats::TierStats& flash = stats.tiers[static_cast<std::size_t>(Tier::kFlash)];
  if (state.flash != nullptr) {
    stats.flash = state.flash->stats();
    flash.capacity_bytes = stats.flash.capacity_bytes;
    flash.read_bytes_per_second = state.cost.flash().bytes_per_second();
  }
  stats.misses = counters.misses;
  stats.misses[static_cast<std::size_t>(MissReason::kNone)] = 0;
  stats.lookups = counters.lookups;
  stats.lookup_blocks = counters.lookup_blocks;
  stats.lookup_present_blocks = counters.lookup_present_blocks;
  stats.put_blocks = counters.put_blocks;
  stats.put_refused_blocks = counters.put_refused_blocks;
  stats.admission_refused_blocks = counters.admission_refused_blocks;
  stats.quarantined_blocks = counters.quarantined_blocks;
  stats.prefetch_hit_blocks = counters.prefetch_hit_blocks;
  stats.prefetch_late_blocks = counters.prefetch_late_blocks;
  stats.prefetch_wasted_blocks = residency.ahead_wasted_blocks();
  stats.promoted_blocks = counters.promoted_blocks;
  stats.learning_writes = state.learning.counts().writes;
  stats.learning_too_large = state.learning.counts().too_large;
  stats.learning_restored_models = state.learning.counts().restored_models;
  stats.index_bytes = residency.memory_bytes() + state.admission->memory_bytes();
  return stats;
}

std::vector<Store::Entry> list_blocks(const StoreState& state) {
  std::vector<Store::Entry> entries;
  const Index& index = state.residency->index();
  for (Slot slot = 0; slot < index.slot_end(); ++slot) {
    if (!index.in_use(slot) || !index.entry(slot).present()) continue;
    const IndexEntry& entry = index.entry(slot);
    Store::Entry listed{.id = {}, .tier = Tier::kFlash, .bytes = entry.data_bytes};
    std::memcpy(listed.id.digest.data(), &entry.id, sizeof entry.id);
    if (entry.in_dram()) {
      listed.id = state.residency->dram()->header(entry.dram_block).id;
      listed.tier = Tier::kDram;
    }
    entries.push_back(listed);
  }
  return entries;
}

}  // namespace forebay::store
