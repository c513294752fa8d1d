#include "core/log.h"
#include "store/store_state.h"

namespace forebay::store {
namespace {

Task<void> forget_task(SharedState state, FlashRead record, bool durable) {
  const Status status =
      co_await state->flash->forget(record.id, record.page, record.data_bytes, durable);
  if (!status) log_debug("store: forget a record: {}", to_string(status.error()));
}

}  // namespace

void forget_behind(StoreState& state, const BlockId& id, FlashPage page, std::uint32_t data_bytes,
                   bool durable) {
  FlashRead record;
  record.id = id;
  record.page = page;
  record.data_bytes = data_bytes;
  state.loop->spawn(forget_task(state.shared_from_this(), std::move(record), durable));
}

void quarantine(StoreState& state, Slot slot, const BlockId& id) {
  const IndexEntry entry = state.index().entry(slot);
  if (state.options.keep_damaged) {
    log_warn("store: block {} at flash page {} did not prove itself",
             to_hex(std::span(id.digest).first(8)), entry.flash_page);
    return;
  }
  ++state.counters.quarantined_blocks;
  log_warn("store: block {} at flash page {} did not prove itself: removed",
           to_hex(std::span(id.digest).first(8)), entry.flash_page);
  state.residency->drop_flash(slot);
  forget_behind(state, id, entry.flash_page, entry.data_bytes, true);
}

// Not durable: after a crash the block may be there again, which is no harm to an evicted one.
void give_up_flash(StoreState& state, Slot slot) {
  const IndexEntry entry = state.index().entry(slot);
  BlockId id;
  std::memcpy(id.digest.data(), &entry.id, sizeof entry.id);
  state.residency->count_evicted(Tier::kFlash);
  state.residency->drop_flash(slot);
  forget_behind(state, id, entry.flash_page, entry.data_bytes, false);
}

Task<Status> remove_blocks(SharedState state, std::span<const BlockId> ids, CallOptions call) {
  Status outcome;
  FlashCall forget_call;
  forget_call.cancel = call.cancel;
  forget_call.io = {.op_class = call.op_class,
                    .tenant = state->tenant_of(call.space),
                    .deadline = call.deadline,
                    .op_id = call.op_id};
  bool on_its_way = false;
  for (const BlockId& id : ids) {
    if (const Status go_on = still_wanted(*state, call, "remove blocks"); !go_on) co_return go_on;
    const Slot slot = state->index().find(id);
    if (slot == kNoSlot) continue;
    IndexEntry& known = state->index().entry(slot);
    if (!state->may_use(call.space, known)) continue;
    if (known.has(EntryFlag::kHeld)) known.set(EntryFlag::kUnwanted);
    // By value: the entry goes with its last tier.
    const IndexEntry entry = known;
    on_its_way = on_its_way || entry.has(EntryFlag::kHeld) ||
                 (entry.in_dram() && state->residency->dram()->header(entry.dram_block).write_back);
    if (entry.on_flash()) state->residency->drop_flash(slot);
    if (entry.in_dram()) state->residency->drop_dram(slot);
    if (!entry.on_flash()) continue;
    const Status status =
        co_await state->flash->forget(id, entry.flash_page, entry.data_bytes, true, forget_call);
    if (!status) outcome = status;
  }
  // A record that was being written is forgotten by whoever writes it: gone only after that.
  const std::uint64_t ticket = state->write_back.ticket();
  while (on_its_way && !state->write_back.done_before(ticket)) {
    if (const Status go_on = still_wanted(*state, call, "remove blocks"); !go_on) co_return go_on;
    co_await state->write_back.changed().wait(call.deadline, call.cancel);
  }
  co_return outcome;
}

}  // namespace forebay::store
