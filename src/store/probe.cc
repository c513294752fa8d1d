// A tier that is not worth loading from, or that vanished, is read from a little now and then, off
// the demand path: otherwise nothing could ever show that it recovered.
#include <vector>

#include "core/aligned_memory.h"
#include "core/bytes.h"
#include "store/store_state.h"

namespace forebay::store {
namespace {

constexpr std::size_t kProbeBlocksMax = 8;
constexpr std::uint64_t kProbeBytesMax = 2ULL << 20;
constexpr Nanos kProbeDeadline = std::chrono::seconds(1);

// Where a probe's bytes go; nobody looks at them, the tier proves them.
struct ProbeBuffer {
  AlignedMemory memory;
  std::vector<iovec> pieces;
};

Task<void> run_probe(SharedState state, std::vector<FlashRead> reads) {
  std::uint64_t bytes = 0;
  for (const FlashRead& read : reads) bytes += read.data_bytes;
  FlashCall call;
  call.io.op_class = block::OpClass::kPrefetch;
  call.io.deadline = state->now() + kProbeDeadline;
  const CostModel::Ticket ticket = state->cost.begin_flash(bytes, state->now());
  co_await state->flash->read(reads, call);
  bool counts = true;
  for (const FlashRead& read : reads) {
    if (read.status) state->flash_gone = false;
    counts = counts && (read.status || read.status.error().code == Errc::kTimedOut);
    if (read.status || read.status.error().code != Errc::kCorrupt) continue;
    const Slot slot = state->index().find(read.id);
    if (slot != kNoSlot && state->index().entry(slot).flash_page == read.page) {
      quarantine(*state, slot, read.id);
    }
  }
  state->cost.end_flash(ticket, state->now(), counts);
}

}  // namespace

void probe_flash(StoreState& state, std::span<const BlockId> chain) {
  if (state.closed || state.flash == nullptr || !state.cost.take_probe(state.now())) return;
  std::vector<FlashRead> reads;
  std::uint64_t bytes = 0;
  for (const BlockId& id : chain.first(std::min(chain.size(), kProbeBlocksMax))) {
    const Slot slot = state.index().find(id);
    if (slot == kNoSlot) break;
    const IndexEntry& entry = state.index().entry(slot);
    if (!entry.on_flash()) break;
    if (!reads.empty() && bytes + entry.data_bytes > kProbeBytesMax) break;
    bytes += entry.data_bytes;
    FlashRead read;
    read.page = entry.flash_page;
    read.id = id;
    read.data_bytes = entry.data_bytes;
    reads.push_back(std::move(read));
  }
  if (reads.empty()) return;
  auto buffer = std::make_shared<ProbeBuffer>();
  std::uint64_t size = 0;
  for (const FlashRead& read : reads) size += round_up(read.data_bytes, kIoAlignBytes);
  buffer->memory = allocate_aligned(size);
  buffer->pieces.reserve(reads.size());
  std::byte* at = buffer->memory.get();
  for (FlashRead& read : reads) {
    buffer->pieces.push_back({at, read.data_bytes});
    read.data = {.pieces = std::span(&buffer->pieces.back(), 1), .owner = buffer};
    at += round_up(read.data_bytes, kIoAlignBytes);
  }
  state.loop->spawn(run_probe(state.shared_from_this(), std::move(reads)));
}

}  // namespace forebay::store
