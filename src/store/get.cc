#include <algorithm>
#include <vector>

#include "store/pieces.h"
#include "store/store_state.h"

namespace forebay::store {
namespace {

// Copies from DRAM go in steps of this much, so that one large get does not hold the core.
constexpr std::uint64_t kCopyBytesMax = 4ULL << 20;
// Flash reads of one call are split into groups of about this much: they all start at once, and
// what one delivered can be used while the others run.
constexpr std::uint64_t kGroupBytes = 4ULL << 20;

// Blocks found on their way from flash to DRAM are waited for and looked up again this often.
constexpr unsigned kRoundsMax = 3;

MissReason reason_of(Errc code) {
  switch (code) {
    case Errc::kTimedOut:
      return MissReason::kTimedOut;
    case Errc::kCancelled:
      return MissReason::kCancelled;
    case Errc::kCorrupt:
      return MissReason::kCorrupt;
    case Errc::kBusy:
      return MissReason::kBusy;
    case Errc::kNotFound:
      return MissReason::kAbsent;
    case Errc::kInvalid:
    case Errc::kExists:
    case Errc::kIo:
    case Errc::kNoSpace:
    case Errc::kReadOnly:
    case Errc::kGone:
    case Errc::kUnsupported:
    case Errc::kDenied:
    case Errc::kVersion:
      break;
  }
  return MissReason::kDevice;
}

struct DramCopy {
  std::size_t item;
  DramTier::Pin pin;
};

struct FlashGroup {
  std::vector<FlashRead> reads;
  std::vector<std::size_t> items;
  std::uint64_t bytes = 0;
  CostModel::Ticket ticket;
  Task<void> task;
};

// One round of a call's work, sorted by where the blocks are.
struct GetPlan {
  std::vector<DramCopy> copies;
  std::vector<FlashGroup> groups;
  std::vector<std::size_t> late;  // on their way to DRAM already: worth waiting for
};

void add_read(GetPlan& plan, std::size_t at, const GetItem& item, const IndexEntry& entry) {
  if (plan.groups.empty() || plan.groups.back().bytes + entry.data_bytes > kGroupBytes) {
    plan.groups.emplace_back();
  }
  FlashGroup& group = plan.groups.back();
  FlashRead read;
  read.page = entry.flash_page;
  read.id = item.id;
  read.data_bytes = entry.data_bytes;
  read.data = item.buffer;
  group.reads.push_back(std::move(read));
  group.items.push_back(at);
  group.bytes += entry.data_bytes;
}

void plan_item(StoreState& state, GetPlan& plan, std::size_t at, GetItem& item, SpaceId space) {
  const Slot slot = state.index().find(item.id);
  if (slot == kNoSlot || !state.index().entry(slot).present()) return;
  const IndexEntry& entry = state.index().entry(slot);
  if (!state.may_use(space, entry)) return;
  if (entry.data_bytes != pieces_bytes(item.buffer.pieces)) {
    item.miss = MissReason::kLength;
  } else if (entry.in_dram()) {
    // The index knows 16 bytes of the name, the block all 32.
    if (state.residency->dram()->header(entry.dram_block).id != item.id) return;
    if (state.residency->take_ahead(entry.dram_block)) {
      ++state.counters.prefetch_hit_blocks;
      state.prefetcher.changed().notify_all();
    }
    plan.copies.push_back({at, DramTier::Pin(state.residency->dram(), entry.dram_block)});
  } else if (state.flash_gone) {
    item.miss = MissReason::kDevice;
  } else if (state.index().entry(slot).has(EntryFlag::kLoading)) {
    plan.late.push_back(at);
  } else {
    add_read(plan, at, item, entry);
  }
}

Task<void> read_group(SharedState state, FlashGroup* group, FlashCall call) {
  group->ticket = state->cost.begin_flash(group->bytes, state->now());
  co_await state->flash->read(group->reads, call);
  bool counts = true;
  for (const FlashRead& read : group->reads) {
    counts = counts && (read.status || read.status.error().code == Errc::kTimedOut);
  }
  state->cost.end_flash(group->ticket, state->now(), counts);
  state->note_latency(Tier::kFlash, state->now() - group->ticket.start);
}

void deliver(StoreState& state, GetItem& item, Tier tier, GetSummary& summary) {
  const auto at = static_cast<std::size_t>(tier);
  const std::uint64_t bytes = pieces_bytes(item.buffer.pieces);
  item.miss = MissReason::kNone;
  item.tier = tier;
  ++summary.blocks_by_tier[at];
  summary.bytes_by_tier[at] += bytes;
  ++state.counters.hit_blocks[at];
  state.counters.hit_bytes[at] += bytes;
}

void settle_read(StoreState& state, GetItem& item, const FlashRead& read, GetSummary& summary) {
  if (read.status) {
    state.flash_gone = false;
    deliver(state, item, Tier::kFlash, summary);
    return;
  }
  const Errc code = read.status.error().code;
  item.miss = reason_of(code);
  if (code == Errc::kGone) state.flash_gone = true;
  if (code != Errc::kCorrupt) return;
  const Slot slot = state.index().find(item.id);
  // Moved meanwhile: the old place holds something else by right. That is a miss, not damage.
  if (slot != kNoSlot && state.index().entry(slot).flash_page == read.page) {
    quarantine(state, slot, item.id);
  }
}

void copy_from_dram(StoreState& state, GetItem& item, DramCopy& copy, GetSummary& summary) {
  scatter(state.residency->dram()->bytes(copy.pin.block()), item.buffer.pieces);
  copy.pin.release();
  deliver(state, item, Tier::kDram, summary);
}

// A copy for DRAM of what was just read, while later groups are still on their way.
void promote_now(StoreState& state, const GetItem& item) {
  const Slot slot = state.index().find(item.id);
  if (slot == kNoSlot) return;
  const IndexEntry entry = state.index().entry(slot);
  if (!entry.on_flash() || entry.in_dram() || !state.residency->deserves_dram(slot)) return;
  const auto block =
      state.residency->make_room(state.spaces.space_of(entry.kind), entry.data_bytes);
  if (!block) return;
  // Making room may have taken the entry's last child with it, never the entry: it is on flash.
  state.residency->dram()->header(*block).id = item.id;
  (void)gather(item.buffer.pieces, state.residency->dram()->bytes(*block));
  state.residency->show_dram(slot, *block);
  ++state.counters.promoted_blocks;
}

// The last group has nobody to hide behind: its worthy blocks are read again off the demand path.
void promote_behind(StoreState& state, std::span<const GetItem> items, const FlashGroup& group) {
  if (state.cost.flash_in_flight_bytes() > 0) return;
  std::vector<BlockId> ids;
  for (const std::size_t at : group.items) {
    const Slot slot =
        items[at].miss == MissReason::kNone ? state.index().find(items[at].id) : kNoSlot;
    if (slot != kNoSlot && state.residency->deserves_dram(slot)) ids.push_back(items[at].id);
  }
  if (ids.empty()) return;
  const Slot any = state.index().find(ids.front());
  state.prefetcher.promote(state, std::move(ids),
                           state.spaces.space_of(state.index().entry(any).kind));
}

void note_outcome(StoreState& state, std::span<const GetItem> items, const GetSummary& summary) {
  for (const GetItem& item : items) {
    ++state.counters.misses[static_cast<std::size_t>(item.miss)];
  }
  if (summary.leading_blocks == 0) return;
  const Slot first = state.index().find(items.front().id);
  const Slot tip = state.index().find(items[summary.leading_blocks - 1].id);
  if (first == kNoSlot || tip == kNoSlot) return;  // gone meanwhile
  state.touches.used(state, first, tip, static_cast<std::uint32_t>(summary.leading_blocks));
}

// Copies from DRAM while the device works on the groups that were started.
Task<void> run_copies(SharedState state, std::span<GetItem> items, GetPlan* plan,
                      CancelSource* cancel, GetSummary* summary) {
  const Nanos start = state->now();
  std::uint64_t copied_bytes = 0;
  std::uint64_t since_yield_bytes = 0;
  for (DramCopy& copy : plan->copies) {
    GetItem& item = items[copy.item];
    if (cancel != nullptr && cancel->cancelled()) {
      item.miss = MissReason::kCancelled;
      continue;
    }
    copy_from_dram(*state, item, copy, *summary);
    const std::uint64_t bytes = pieces_bytes(item.buffer.pieces);
    copied_bytes += bytes;
    since_yield_bytes += bytes;
    if (since_yield_bytes < kCopyBytesMax) continue;
    since_yield_bytes = 0;
    co_await state->loop->yield();
  }
  if (copied_bytes == 0) co_return;
  const Nanos took = state->now() - start;
  state->cost.observe_dram(copied_bytes, took);
  state->note_latency(Tier::kDram, took);
}

Task<void> run_groups(SharedState state, std::span<GetItem> items, GetPlan* plan,
                      GetSummary* summary) {
  const bool promotes = !state->residency->staging();
  for (std::size_t at = 0; at < plan->groups.size(); ++at) {
    FlashGroup& group = plan->groups[at];
    co_await group.task;
    const bool is_last = at + 1 == plan->groups.size();
    for (std::size_t i = 0; i < group.reads.size(); ++i) {
      GetItem& item = items[group.items[i]];
      settle_read(*state, item, group.reads[i], *summary);
      const bool good = item.miss == MissReason::kNone;
      if (promotes && !is_last && good && !plan->groups[at + 1].task.done()) {
        promote_now(*state, item);
      }
    }
    if (promotes && is_last) promote_behind(*state, items, group);
  }
}

// Until none of the late blocks is on its way any more; what is still missing then is planned anew.
Task<void> wait_for_late(SharedState state, std::span<GetItem> items, GetPlan* plan,
                         CallOptions call) {
  state->counters.prefetch_late_blocks += plan->late.size();
  const auto on_its_way = [&](std::size_t at) {
    const Slot slot = state->index().find(items[at].id);
    return slot != kNoSlot && state->index().entry(slot).has(EntryFlag::kLoading);
  };
  while (std::ranges::any_of(plan->late, on_its_way) && state->now() < call.deadline &&
         !(call.cancel != nullptr && call.cancel->cancelled())) {
    co_await state->prefetcher.changed().wait(call.deadline, call.cancel);
  }
}

}  // namespace

Task<GetSummary> get_blocks(SharedState state, std::span<GetItem> items, CallOptions call) {
  GetSummary summary;
  FlashCall flash_call;
  flash_call.cancel = call.cancel;
  flash_call.io = {.op_class = call.op_class,
                   .tenant = state->tenant_of(call.space),
                   .deadline = call.deadline,
                   .op_id = call.op_id};
  GetPlan plan;
  for (std::size_t i = 0; i < items.size(); ++i) {
    items[i].miss = MissReason::kAbsent;
    items[i].tier = Tier::kNone;
    state->admission->see(items[i].id);
    plan_item(*state, plan, i, items[i], call.space);
  }
  for (unsigned round = 0; round < kRoundsMax; ++round) {
    const Nanos start = state->now();
    // Flash first: the device works while the core copies.
    for (FlashGroup& group : plan.groups) {
      group.task = read_group(state, &group, flash_call);
      group.task.start();
    }
    co_await run_copies(state, items, &plan, call.cancel, &summary);
    co_await run_groups(state, items, &plan, &summary);
    if (!plan.late.empty()) co_await wait_for_late(state, items, &plan, call);
    if (!plan.groups.empty() || !plan.late.empty()) summary.device_wait += state->now() - start;
    GetPlan rest;
    for (const std::size_t at : plan.late) {
      items[at].miss = MissReason::kBusy;
      if (state->now() >= call.deadline) items[at].miss = MissReason::kTimedOut;
      if (call.cancel != nullptr && call.cancel->cancelled()) {
        items[at].miss = MissReason::kCancelled;
      }
      if (items[at].miss == MissReason::kBusy) plan_item(*state, rest, at, items[at], call.space);
    }
    plan = std::move(rest);
    if (plan.copies.empty() && plan.groups.empty() && plan.late.empty()) break;
  }
  while (summary.leading_blocks < items.size() &&
         items[summary.leading_blocks].miss == MissReason::kNone) {
    ++summary.leading_blocks;
  }
  note_outcome(*state, items, summary);
  co_return summary;
}

}  // namespace forebay::store
