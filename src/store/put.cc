#include <algorithm>
#include <vector>

#include "store/pieces.h"
#include "store/store_state.h"

namespace forebay::store {
namespace {

// Copies go in steps of this much, so that one large put does not hold the core.
constexpr std::uint64_t kCopyBytesMax = 4ULL << 20;
// What a put brought is listed for eviction at its end, or when it fills this part of DRAM.
constexpr std::uint64_t kUnlistedShare = 4;
// Blocks of its own that a tenant at its flash quota gives up for one new block.
constexpr unsigned kQuotaEvictionsMax = 64;

std::uint32_t bytes_of_item(const PutItem& item) {
  return static_cast<std::uint32_t>(pieces_bytes(item.data.pieces));
}

Status check_item(const StoreState& state, const PutItem& item, SpaceId space) {
  if (state.closed) return fail(Errc::kInvalid, "the store is closed");
  if (!state.spaces.known(space)) return fail(Errc::kInvalid, "unknown key space");
  const std::uint64_t bytes = pieces_bytes(item.data.pieces);
  if (bytes == 0 || bytes > kBlockBytesMax) return fail(Errc::kInvalid, "block size");
  if (item.engine_key.size() > kEngineKeyBytesMax) return fail(Errc::kInvalid, "engine key size");
  if (item.id == kNoParent) return fail(Errc::kInvalid, "block id is the id of no block");
  return {};
}

// Here already, or on its way: offering it again changes nothing but its heat.
bool known_block(StoreState& state, const BlockId& id) {
  const Slot slot = state.index().find(id);
  if (slot == kNoSlot) return false;
  IndexEntry& entry = state.index().entry(slot);
  if (!entry.present() && !entry.has(EntryFlag::kHeld)) return false;
  entry.clear(EntryFlag::kUnwanted);
  return true;
}

// Makes the tenant's flash quota fit `bytes` more by giving up its own least worthy blocks.
bool fit_flash_quota(StoreState& state, TenantId tenant, std::uint64_t bytes) {
  const std::uint64_t most = state.spaces.quota_bytes(tenant, Tier::kFlash);
  if (most != 0 && bytes > most) return false;
  for (unsigned i = 0; !state.spaces.fits(tenant, Tier::kFlash, bytes); ++i) {
    const Slot victim = i < kQuotaEvictionsMax ? state.residency->flash_victim_of(tenant) : kNoSlot;
    if (victim == kNoSlot) return false;
    give_up_flash(state, victim);
  }
  return true;
}

bool wants_flash(StoreState& state, const PutItem& item, SpaceId space) {
  state.admission->see(item.id);
  if (!state.flash_takes_writes()) return false;
  const bool admitted = state.admission->admits(item.id) &&
                        fit_flash_quota(state, state.spaces.tenant_of(space),
                                        Residency::flash_footprint_bytes(bytes_of_item(item)));
  if (!admitted) ++state.counters.admission_refused_blocks;
  return admitted;
}

void fill_header(DramHeader& header, const PutItem& item) {
  header.id = item.id;
  header.parent = item.parent;
  header.token_count = item.token_count;
  header.chain_depth = item.chain_depth;
  header.engine_key_bytes = static_cast<std::uint16_t>(item.engine_key.size());
  if (item.engine_key.empty()) return;
  header.engine_key = std::make_unique<std::byte[]>(item.engine_key.size());
  std::ranges::copy(item.engine_key, header.engine_key.get());
}

Status insert_block(StoreState& state, const PutItem& item, SpaceId space, bool to_flash) {
  Residency& residency = *state.residency;
  const std::uint32_t bytes = bytes_of_item(item);
  FOREBAY_TRY(block, residency.make_room(space, bytes));
  DramHeader& header = residency.dram()->header(block);
  fill_header(header, item);
  const std::uint32_t data_crc = gather(item.data.pieces, residency.dram()->bytes(block));
  BlockFacts facts;
  facts.id = item.id;
  facts.parent = item.parent;
  facts.space = space;
  facts.data_bytes = bytes;
  facts.token_count = item.token_count;
  const Slot slot = residency.intern(facts);
  if (slot == kNoSlot) {
    residency.give_back(block);
    return fail(Errc::kNoSpace, "the index is full");
  }
  if (residency.staging()) {
    header.slot = slot;
    residency.hold(slot);
  } else {
    residency.show_dram(slot, block);
  }
  if (to_flash) state.write_back.push(state, block, data_crc);
  return {};
}

Status refusal_of_flash(const StoreState& state) {
  if (state.flash_gone) return fail(Errc::kGone, "the flash device is gone");
  if (!state.flash_takes_writes()) return fail(Errc::kReadOnly, "the flash tier takes no writes");
  return fail(Errc::kNoSpace, "not admitted to flash: expected reuse or quota");
}

// One attempt; kBusy may be tried again when something was written back.
Status try_put(StoreState& state, const PutItem& item, SpaceId space, bool to_flash) {
  if (known_block(state, item.id)) return {};
  if (!to_flash && state.residency->staging()) return refusal_of_flash(state);
  if (to_flash && !state.write_back.has_room(bytes_of_item(item))) {
    return fail(Errc::kBusy, "write-back is full");
  }
  return insert_block(state, item, space, to_flash);
}

bool is_busy(const Status& status) { return !status && status.error().code == Errc::kBusy; }

// Tells the policies of items [from, to): one request's, continuing what was used before.
void list_items(StoreState& state, std::span<const PutItem> items) {
  std::vector<Slot> slots;
  for (const PutItem& item : items) {
    const Slot slot = item.status ? state.index().find(item.id) : kNoSlot;
    if (slot != kNoSlot) slots.push_back(slot);
  }
  if (slots.empty()) return;
  const Slot parent = state.index().parent(slots.front());
  state.touches.stored(state, parent, slots, items.front().chain_depth);
}

}  // namespace

Task<void> put_blocks(SharedState state, std::span<PutItem> items, CallOptions call) {
  const Nanos patience = std::min(call.deadline, state->now() + state->options.put_wait_max);
  const std::uint64_t unlisted_max = state->residency->dram()->capacity_bytes() / kUnlistedShare;
  std::uint64_t copied_bytes = 0;
  std::uint64_t unlisted_bytes = 0;
  std::size_t listed = 0;
  for (std::size_t at = 0; at < items.size(); ++at) {
    PutItem& item = items[at];
    ++state->counters.put_blocks;
    item.status = still_wanted(*state, call, "put");
    if (item.status) item.status = check_item(*state, item, call.space);
    if (item.status && !known_block(*state, item.id)) {
      const bool to_flash = wants_flash(*state, item, call.space);
      item.status = try_put(*state, item, call.space, to_flash);
      while (is_busy(item.status) && !state->write_back.idle() && state->now() < patience &&
             !(call.cancel != nullptr && call.cancel->cancelled())) {
        state->write_back.pump(*state);
        co_await state->write_back.changed().wait(patience, call.cancel);
        item.status = try_put(*state, item, call.space, to_flash);
      }
      if (is_busy(item.status)) {
        if (const Status wanted = still_wanted(*state, call, "put"); !wanted) item.status = wanted;
      }
      copied_bytes += bytes_of_item(item);
      unlisted_bytes += bytes_of_item(item);
    }
    if (!item.status) ++state->counters.put_refused_blocks;
    if (unlisted_bytes >= unlisted_max) {
      list_items(*state, items.subspan(listed, at + 1 - listed));
      listed = at + 1;
      unlisted_bytes = 0;
    }
    if (copied_bytes >= kCopyBytesMax) {
      copied_bytes = 0;
      state->write_back.pump(*state);
      co_await state->loop->yield();
    }
  }
  list_items(*state, items.subspan(listed));
  state->write_back.pump(*state);
}

}  // namespace forebay::store
