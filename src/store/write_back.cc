#include "store/write_back.h"

#include <algorithm>

#include "core/log.h"
#include "store/pinned_block.h"
#include "store/store_state.h"

namespace forebay::store {
namespace {

// A device that has not written a batch by then is not going to: the blocks stay in DRAM only.
constexpr Nanos kWriteDeadline = std::chrono::seconds(30);

FlashCall forget_call(const StoreState& state) {
  FlashCall call;
  call.io.op_class = block::OpClass::kWriteBack;
  call.io.deadline = state.now() + kWriteDeadline;
  return call;
}

// A tier that takes no writes is not offered the same again and again.
constexpr Nanos kRefusedWait = std::chrono::seconds(1);

void note_refusal(StoreState& state, Errc code) {
  if (code != Errc::kReadOnly && code != Errc::kNoSpace && code != Errc::kGone &&
      code != Errc::kExists) {
    return;
  }
  if (state.flash_takes_writes()) {
    log_warn("store: the flash tier takes no writes ({}); reads go on", to_string(code));
  }
  state.flash_writes_from = state.now() + kRefusedWait;
}

FlashAppend append_of(const StoreState& state, DramBlock block) {
  const DramHeader& header = state.residency->dram()->header(block);
  const KeySpace& space = state.spaces.space(SpaceId{header.space});
  FlashAppend append;
  append.facts.id = header.id;
  append.facts.parent = header.parent;
  append.facts.tenant = space.tenant;
  append.facts.layout_fingerprint = space.layout_fingerprint;
  append.facts.engine_key = {header.engine_key.get(), header.engine_key_bytes};
  append.facts.data_bytes = header.data_bytes;
  append.facts.token_count = header.token_count;
  append.facts.chain_depth = header.chain_depth;
  append.data = lend_block(state.residency->shared_dram(), block);
  return append;
}

}  // namespace

void WriteBack::push(StoreState& state, DramBlock block, std::optional<std::uint32_t> data_crc) {
  DramHeader& header = state.residency->dram()->header(block);
  header.write_back = true;
  queue_.push_back({block, header.generation, header.data_bytes, data_crc,
                    state.tenant_of(SpaceId{header.space})});
  waiting_bytes_ += header.data_bytes;
  ++pushed_;
}

WriteBack::Batch WriteBack::take_batch() {
  Batch batch;
  batch.first = pushed_ - queue_.size();
  const auto fits = [&batch](const Entry& next) {
    return batch.entries.empty() || (batch.bytes + next.data_bytes <= kBatchBytes &&
                                     next.tenant == batch.entries.front().tenant);
  };
  while (!queue_.empty() && fits(queue_.front())) {
    batch.bytes += queue_.front().data_bytes;
    batch.entries.push_back(queue_.front());
    queue_.pop_front();
  }
  return batch;
}

void WriteBack::pump(StoreState& state) {
  while (!state.abandoned && !queue_.empty() && in_flight_.size() < kBatchesMax) {
    Batch batch = take_batch();
    in_flight_.push_back(batch.first);
    state.loop->spawn(write_batch(state.shared_from_this(), std::move(batch)));
  }
}

Task<void> WriteBack::write_batch(SharedState state, Batch batch) {
  DramTier& dram = *state->residency->dram();
  std::vector<FlashAppend> appends;
  std::vector<DramBlock> blocks;
  for (const Entry& entry : batch.entries) {
    const DramHeader& header = dram.header(entry.block);
    // Removed while it waited: nothing to write.
    if (header.generation != entry.generation || header.dropped) continue;
    appends.push_back(append_of(*state, entry.block));
    appends.back().data_crc = entry.data_crc;
    blocks.push_back(entry.block);
  }
  if (!appends.empty()) {
    FlashCall call;
    call.io.op_class = block::OpClass::kWriteBack;
    call.io.tenant = batch.entries.front().tenant;
    call.io.deadline = state->now() + kWriteDeadline;
    co_await state->flash->append(appends, call);
  }
  for (std::size_t i = 0; i < appends.size(); ++i) {
    const bool keeps = settle(*state, blocks[i], appends[i]);
    if (keeps || !appends[i].status) continue;
    // Removed meanwhile: whoever removed it waits for this too.
    const FlashAppend& append = appends[i];
    const Status forgotten = co_await state->flash->forget(
        append.facts.id, append.page, append.facts.data_bytes, true, forget_call(*state));
    if (!forgotten) state->write_back.failure_ = forgotten;
  }
  WriteBack& self = state->write_back;
  std::erase(self.in_flight_, batch.first);
  self.waiting_bytes_ -= batch.bytes;
  self.changed_.notify_all();
  self.pump(*state);
}

bool WriteBack::settle(StoreState& state, DramBlock block, const FlashAppend& outcome) {
  Residency& residency = *state.residency;
  DramHeader& header = residency.dram()->header(block);
  header.write_back = false;
  const Slot slot = header.slot;
  bool wanted = !header.dropped && slot != kNoSlot;
  if (wanted) wanted = !state.index().entry(slot).has(EntryFlag::kUnwanted);
  if (!outcome.status) {
    state.write_back.failure_ = outcome.status;
    note_refusal(state, outcome.status.error().code);
    if (wanted && !state.index().entry(slot).on_flash()) residency.unlist_flash(slot);
  }
  const bool keeps = outcome.status && wanted && !state.index().entry(slot).on_flash();
  if (keeps) residency.show_flash(slot, outcome.page);
  if (residency.staging()) {
    residency.dram()->drop(block);
    residency.unhold(slot);
  }
  return keeps;
}

bool WriteBack::done_before(std::uint64_t ticket) const {
  std::uint64_t oldest = pushed_ - queue_.size();
  for (const std::uint64_t first : in_flight_) oldest = std::min(oldest, first);
  return oldest >= ticket;
}

Status WriteBack::take_failure() { return std::exchange(failure_, Status{}); }

}  // namespace forebay::store
