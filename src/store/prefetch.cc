#include "store/prefetch.h"

#include <algorithm>
#include <optional>

#include "store/pinned_block.h"
#include "store/store_state.h"

namespace forebay::store {

struct Prefetcher::Job {
  std::vector<BlockId> chain;
  SpaceId space;
  block::IoOptions io;
  bool promotion = false;
  std::size_t next = 0;  // of the chain
  std::size_t loads_in_flight = 0;
  bool ended = false;  // nothing more to load: end of the run, or no room
  CancelSource stop;   // ours: the caller's may be gone before our reads are
  std::optional<CancelSource::Listener> listener;
  struct Loaded {
    DramBlock block;
    std::uint32_t generation;
  };
  std::vector<Loaded> loaded;

  [[nodiscard]] bool waits_for_taker(const DramTier& dram) const {
    return std::ranges::any_of(loaded, [&](const Loaded& one) {
      const DramHeader& header = dram.header(one.block);
      return header.generation == one.generation && header.prefetched;
    });
  }
};

struct Prefetcher::Load {
  BlockId id;
  FlashPage page = kNoFlashPage;
  DramBlock block = kNoDramBlock;
  std::uint32_t data_bytes = 0;
};

void Prefetcher::start(StoreState& state, std::span<const BlockId> chain, const CallOptions& call) {
  if (state.closed || state.flash == nullptr || state.residency->staging()) return;
  if (!state.spaces.known(call.space)) return;
  if (job_count_ >= kJobsMax || (call.cancel != nullptr && call.cancel->cancelled())) return;
  auto job = std::make_shared<Job>();
  job->chain.assign(chain.begin(), chain.end());
  job->space = call.space;
  job->io = {.op_class = block::OpClass::kPrefetch,
             .tenant = state.tenant_of(call.space),
             .deadline = std::min(call.deadline, state.now() + kWaitMax),
             .op_id = call.op_id};
  if (call.cancel != nullptr) {
    job->listener.emplace(call.cancel, [weak = std::weak_ptr(job)] {
      const auto held = weak.lock();
      if (held == nullptr) return;
      held->listener.reset();  // the source may be gone from here on
      held->stop.cancel();
    });
  }
  ++job_count_;
  state.loop->spawn(run(state.shared_from_this(), std::move(job)));
}

void Prefetcher::promote(StoreState& state, std::vector<BlockId> ids, SpaceId space) {
  if (state.closed || ids.empty() || job_count_ >= kJobsMax) return;
  auto job = std::make_shared<Job>();
  job->chain = std::move(ids);
  job->space = space;
  job->promotion = true;
  job->io = {.op_class = block::OpClass::kPrefetch,
             .tenant = state.tenant_of(space),
             .deadline = state.now() + kWaitMax};
  ++job_count_;
  state.loop->spawn(run(state.shared_from_this(), std::move(job)));
}

bool Prefetcher::window_is_open(const StoreState& state, std::uint64_t bytes) const {
  // A quarter of DRAM at most, so that looking ahead never empties the tier.
  const std::uint64_t most =
      std::min(window_bytes_max_, state.residency->dram()->capacity_bytes() / 4);
  return in_flight_bytes_ + state.residency->ahead_bytes() + bytes <= most;
}

std::vector<Prefetcher::Load> Prefetcher::next_group(StoreState& state, Job& job) {
  Prefetcher& self = state.prefetcher;
  std::vector<Load> loads;
  std::uint64_t bytes = 0;
  for (; job.next < job.chain.size() && bytes < kGroupBytes; ++job.next) {
    const BlockId& id = job.chain[job.next];
    const Slot slot = state.index().find(id);
    job.ended = slot == kNoSlot || !state.index().entry(slot).present() || state.flash_gone;
    if (job.ended) break;
    IndexEntry& entry = state.index().entry(slot);
    job.ended = !state.may_use(job.space, entry);
    if (job.ended) break;
    if (entry.in_dram() || entry.has(EntryFlag::kLoading)) continue;
    if (!self.window_is_open(state, entry.data_bytes)) break;
    const auto block = state.residency->make_room(job.space, entry.data_bytes);
    job.ended = !block.has_value() || !entry.on_flash();
    if (job.ended) {
      if (block) state.residency->give_back(*block);
      break;
    }
    entry.set(EntryFlag::kLoading);
    self.in_flight_bytes_ += entry.data_bytes;
    bytes += entry.data_bytes;
    loads.push_back({id, entry.flash_page, *block, entry.data_bytes});
  }
  job.ended = job.ended || job.next >= job.chain.size();
  return loads;
}

Task<void> Prefetcher::run(SharedState state, std::shared_ptr<Job> job) {
  Prefetcher& self = state->prefetcher;
  const auto stopped = [&] {
    return job->stop.cancelled() || state->closed || state->now() >= job->io.deadline;
  };
  while (!job->ended && !stopped()) {
    std::vector<Load> loads = next_group(*state, *job);
    if (!loads.empty()) {
      ++job->loads_in_flight;
      state->loop->spawn(load_group(state, job, std::move(loads)));
    } else if (!job->ended) {
      co_await self.changed_.wait(job->io.deadline, &job->stop);
    }
  }
  const DramTier& dram = *state->residency->dram();
  while (!stopped() && (job->loads_in_flight > 0 || job->waits_for_taker(dram))) {
    co_await self.changed_.wait(job->io.deadline, &job->stop);
  }
  job->listener.reset();
  leave(*state, *job);
  --self.job_count_;
  self.changed_.notify_all();
}

// What nobody came for leaves DRAM.
void Prefetcher::leave(StoreState& state, Job& job) {
  DramTier& dram = *state.residency->dram();
  for (const Job::Loaded& one : std::exchange(job.loaded, {})) {
    const DramHeader& header = dram.header(one.block);
    if (header.generation != one.generation || !header.prefetched) continue;
    if (header.slot != kNoSlot) state.residency->drop_dram(header.slot);
  }
  job.stop.cancel();
}

Task<void> Prefetcher::load_group(SharedState state, std::shared_ptr<Job> job,
                                  std::vector<Load> loads) {
  std::vector<FlashRead> reads;
  std::uint64_t bytes = 0;
  for (const Load& load : loads) {
    FlashRead read;
    read.page = load.page;
    read.id = load.id;
    read.data_bytes = load.data_bytes;
    read.data = lend_block(state->residency->shared_dram(), load.block);
    reads.push_back(std::move(read));
    bytes += load.data_bytes;
  }
  FlashCall call;
  call.io = job->io;
  call.cancel = &job->stop;
  const CostModel::Ticket ticket = state->cost.begin_flash(bytes, state->now());
  co_await state->flash->read(reads, call);
  state->cost.end_flash(ticket, state->now(), false);
  for (std::size_t i = 0; i < loads.size(); ++i) settle(*state, *job, loads[i], reads[i].status);
  Prefetcher& self = state->prefetcher;
  self.in_flight_bytes_ -= bytes;
  --job->loads_in_flight;
  self.changed_.notify_all();
}

void Prefetcher::settle(StoreState& state, Job& job, Load& load, const Status& status) {
  Residency& residency = *state.residency;
  const Slot slot = state.index().find(load.id);
  if (slot != kNoSlot) {
    state.index().entry(slot).clear(EntryFlag::kLoading);
  }
  const bool same = slot != kNoSlot && state.index().entry(slot).flash_page == load.page;
  if (!status && status.error().code == Errc::kCorrupt && same) quarantine(state, slot, load.id);
  if (!status && status.error().code == Errc::kGone) state.flash_gone = true;
  // A page that moved while it was read was proven by its own header all the same.
  const bool wanted = status && slot != kNoSlot && state.index().entry(slot).on_flash() &&
                      !state.index().entry(slot).in_dram() && !job.stop.cancelled();
  if (!wanted) {
    residency.give_back(load.block);
    return;
  }
  DramHeader& header = residency.dram()->header(load.block);
  header.id = load.id;
  residency.show_dram(slot, load.block);
  if (job.promotion) {
    ++state.counters.promoted_blocks;
    residency.list_dram(slot);
  } else {
    residency.mark_ahead(load.block);
    job.loaded.push_back({load.block, header.generation});
  }
}

}  // namespace forebay::store
