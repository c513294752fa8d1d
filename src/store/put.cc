#include <algorithm>

#include "store/pieces.h"
#include "store/store_state.h"

namespace forebay::store {
namespace {

// Copies go in steps of this much, so that one large put does not hold the core.
constexpr std::uint64_t kCopyBytesMax = 4ULL << 20;

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
bool keep_if_known(StoreState& state, const BlockId& id) {
  const Slot slot = state.index().find(id);
  if (slot == kNoSlot) return false;
  IndexLink& link = state.index().link(slot);
  if (!state.index().entry(slot).present() && (link.flags & IndexLink::kHeld) == 0) return false;
  link.flags &= static_cast<std::uint8_t>(~IndexLink::kUnwanted);
  state.residency->touch(slot);
  return true;
}

bool wants_flash(StoreState& state, const PutItem& item, SpaceId space) {
  if (state.flash == nullptr || state.flash_gone) return false;
  const auto bytes = static_cast<std::uint32_t>(pieces_bytes(item.data.pieces));
  state.admission->see(item.id);
  const bool admitted = state.admission->admits(item.id) &&
                        state.spaces.fits(state.spaces.tenant_of(space), Tier::kFlash,
                                          Residency::flash_footprint_bytes(bytes));
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
  const auto bytes = static_cast<std::uint32_t>(pieces_bytes(item.data.pieces));
  FOREBAY_TRY(block, residency.make_room(space, bytes));
  DramHeader& header = residency.dram()->header(block);
  fill_header(header, item);
  gather(item.data.pieces, residency.dram()->bytes(block));
  BlockFacts facts;
  facts.id = item.id;
  facts.parent = item.parent;
  facts.space = space;
  facts.data_bytes = bytes;
  facts.token_count = item.token_count;
  facts.chain_depth = item.chain_depth;
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
  if (to_flash) state.write_back.push(state, block);
  return {};
}

// One attempt; kBusy may be tried again when something was written back.
Status try_put(StoreState& state, const PutItem& item, SpaceId space, bool to_flash) {
  if (keep_if_known(state, item.id)) return {};
  if (!to_flash && state.residency->staging()) {
    return state.flash_gone ? fail(Errc::kGone, "the flash device is gone")
                            : fail(Errc::kNoSpace, "not admitted to flash");
  }
  const auto bytes = static_cast<std::uint32_t>(pieces_bytes(item.data.pieces));
  if (to_flash && !state.write_back.has_room(bytes)) return fail(Errc::kBusy, "write-back is full");
  return insert_block(state, item, space, to_flash);
}

bool is_busy(const Status& status) { return !status && status.error().code == Errc::kBusy; }

}  // namespace

Task<void> put_blocks(SharedState state, std::span<PutItem> items, CallOptions call) {
  const Nanos patience = std::min(call.deadline, state->now() + state->options.put_wait_max);
  std::uint64_t copied_bytes = 0;
  for (PutItem& item : items) {
    ++state->counters.put_blocks;
    item.status = check_item(*state, item, call.space);
    if (item.status) {
      const bool to_flash = wants_flash(*state, item, call.space);
      item.status = try_put(*state, item, call.space, to_flash);
      while (is_busy(item.status) && !state->write_back.idle() && state->now() < patience &&
             !(call.cancel != nullptr && call.cancel->cancelled())) {
        state->write_back.pump(*state);
        co_await state->write_back.changed().wait(patience, call.cancel);
        item.status = try_put(*state, item, call.space, to_flash);
      }
      copied_bytes += pieces_bytes(item.data.pieces);
    }
    if (!item.status) ++state->counters.put_refused_blocks;
    if (copied_bytes >= kCopyBytesMax) {
      copied_bytes = 0;
      state->write_back.pump(*state);
      co_await state->loop->yield();
    }
  }
  state->write_back.pump(*state);
}

}  // namespace forebay::store
