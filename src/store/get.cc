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

// One call's work, sorted by where the blocks are.
struct GetPlan {
  std::vector<DramCopy> copies;
  std::vector<FlashGroup> groups;
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

GetPlan plan_get(StoreState& state, std::span<GetItem> items) {
  GetPlan plan;
  for (std::size_t i = 0; i < items.size(); ++i) {
    GetItem& item = items[i];
    item.miss = MissReason::kAbsent;
    item.tier = Tier::kNone;
    state.admission->see(item.id);
    const Slot slot = state.index().find(item.id);
    if (slot == kNoSlot || !state.index().entry(slot).present()) continue;
    const IndexEntry& entry = state.index().entry(slot);
    if (entry.data_bytes != pieces_bytes(item.buffer.pieces)) {
      item.miss = MissReason::kLength;
    } else if (entry.in_dram()) {
      // The index knows 16 bytes of the name, the block all 32.
      if (state.residency->dram()->header(entry.dram_block).id != item.id) continue;
      plan.copies.push_back({i, DramTier::Pin(state.residency->dram(), entry.dram_block)});
    } else if (state.flash_gone) {
      item.miss = MissReason::kDevice;
    } else {
      add_read(plan, i, item, entry);
    }
  }
  return plan;
}

Task<void> read_group(SharedState state, FlashGroup* group, FlashCall call) {
  group->ticket = state->cost.begin_flash(group->bytes, state->now());
  co_await state->flash->read(group->reads, call);
  bool counts = true;
  for (const FlashRead& read : group->reads) {
    counts = counts && (read.status || read.status.error().code == Errc::kTimedOut);
  }
  state->cost.end_flash(group->ticket, state->now(), counts);
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

}  // namespace

Task<GetSummary> get_blocks(SharedState state, std::span<GetItem> items, CallOptions call) {
  GetSummary summary;
  GetPlan plan = plan_get(*state, items);
  const Nanos start = state->now();

  // Flash first: the device works while the core copies.
  FlashCall flash_call;
  flash_call.cancel = call.cancel;
  flash_call.io = {.op_class = call.op_class,
                   .tenant = state->spaces.tenant_of(call.space),
                   .deadline = call.deadline,
                   .op_id = call.op_id};
  for (FlashGroup& group : plan.groups) {
    group.task = read_group(state, &group, flash_call);
    group.task.start();
  }

  std::uint64_t copied_bytes = 0;
  for (DramCopy& copy : plan.copies) {
    GetItem& item = items[copy.item];
    if (call.cancel != nullptr && call.cancel->cancelled()) {
      item.miss = MissReason::kCancelled;
      continue;
    }
    copy_from_dram(*state, item, copy, summary);
    copied_bytes += pieces_bytes(item.buffer.pieces);
    if (copied_bytes >= kCopyBytesMax) {
      copied_bytes = 0;
      co_await state->loop->yield();
    }
  }
  if (copied_bytes > 0) state->cost.observe_dram(copied_bytes, state->now() - start);

  for (FlashGroup& group : plan.groups) {
    co_await group.task;
    for (std::size_t i = 0; i < group.reads.size(); ++i) {
      settle_read(*state, items[group.items[i]], group.reads[i], summary);
    }
  }
  if (!plan.groups.empty()) summary.device_wait = state->now() - start;

  while (summary.leading_blocks < items.size() &&
         items[summary.leading_blocks].miss == MissReason::kNone) {
    ++summary.leading_blocks;
  }
  note_outcome(*state, items, summary);
  co_return summary;
}

}  // namespace forebay::store
