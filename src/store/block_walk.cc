#include "store/block_walk.h"

#include <memory>

#include "core/aligned_memory.h"
#include "core/bytes.h"
#include "store/store_state.h"
#include "store/walk_order.h"

namespace forebay::store {
namespace {

// A block that reclaim moved while it was read is read again at its new place this often.
constexpr unsigned kTriesMax = 3;

// Where a batch's bytes go. A device that was given up on may hold it on.
struct BatchMemory {
  explicit BatchMemory(std::size_t size) : size_bytes(size), memory(allocate_aligned(size)) {}
  std::size_t size_bytes;
  AlignedMemory memory;
  std::vector<iovec> pieces;
};

class StoreWalk final : public BlockWalk {
 public:
  StoreWalk(SharedState state, std::string tenant)
      : state_(std::move(state)), order_(state_->index()), tenant_(std::move(tenant)) {}

  Task<std::span<const WalkedBlock>> next(std::uint64_t bytes_max, CallOptions call) override;

 private:
  struct Place {
    ShortId id;
    std::uint64_t offset_bytes = 0;  // in the batch's memory
  };

  void pick(std::uint64_t bytes_max);
  [[nodiscard]] bool wanted(const IndexEntry& entry) const;
  void lay_memory();
  Task<void> load(std::size_t at, FlashCall call);
  Task<Status> load_from_flash(std::size_t at, FlashPage page, FlashCall call);
  Status copy_from_dram(std::size_t at, const IndexEntry& entry);
  [[nodiscard]] std::span<std::byte> memory_of(std::size_t at) const {
    return {memory_->memory.get() + places_[at].offset_bytes, blocks_[at].data_bytes};
  }

  SharedState state_;
  WalkOrder order_;
  std::string tenant_;
  Slot ahead_ = kNoSlot;  // picked, but there was no more room in the batch
  std::vector<WalkedBlock> blocks_;
  std::vector<Place> places_;
  std::shared_ptr<BatchMemory> memory_;
};

bool StoreWalk::wanted(const IndexEntry& entry) const {
  return tenant_.empty() ||
         state_->spaces.space(state_->spaces.space_of(entry.kind)).tenant == tenant_;
}

void StoreWalk::pick(std::uint64_t bytes_max) {
  blocks_.clear();
  places_.clear();
  std::uint64_t bytes = 0;
  while (blocks_.size() < kBatchBlocksMax) {
    const Slot slot = ahead_ != kNoSlot ? std::exchange(ahead_, kNoSlot) : order_.next();
    if (slot == kNoSlot) return;
    const Index& index = state_->index();
    if (!index.in_use(slot) || !index.entry(slot).present() || !wanted(index.entry(slot))) continue;
    const IndexEntry& entry = index.entry(slot);
    const std::uint64_t size = round_up(entry.data_bytes, kIoAlignBytes);
    if (!blocks_.empty() && bytes + size > bytes_max) {
      ahead_ = slot;
      return;
    }
    WalkedBlock& block = blocks_.emplace_back();
    std::memcpy(block.id.digest.data(), &entry.id, sizeof entry.id);
    block.space = state_->spaces.space(state_->spaces.space_of(entry.kind));
    block.token_count = state_->spaces.token_count(entry.kind);
    block.data_bytes = entry.data_bytes;
    places_.push_back({.id = entry.id, .offset_bytes = bytes});
    bytes += size;
  }
}

void StoreWalk::lay_memory() {
  const std::uint64_t bytes =
      places_.back().offset_bytes + round_up(blocks_.back().data_bytes, kIoAlignBytes);
  if (memory_ == nullptr || memory_.use_count() > 1 || memory_->size_bytes < bytes) {
    memory_ = std::make_shared<BatchMemory>(bytes);
  }
  memory_->pieces.clear();
  for (std::size_t at = 0; at < blocks_.size(); ++at) {
    memory_->pieces.push_back({memory_of(at).data(), memory_of(at).size()});
  }
}

Task<std::span<const WalkedBlock>> StoreWalk::next(std::uint64_t bytes_max, CallOptions call) {
  pick(bytes_max);
  if (blocks_.empty()) co_return std::span<const WalkedBlock>();
  lay_memory();
  FlashCall flash_call;
  flash_call.cancel = call.cancel;
  flash_call.io = {.op_class = call.op_class, .deadline = call.deadline, .op_id = call.op_id};
  std::vector<Task<void>> loads;
  for (std::size_t at = 0; at < blocks_.size(); ++at) {
    loads.push_back(load(at, flash_call));
    loads.back().start();
  }
  for (Task<void>& task : loads) co_await task;
  co_return blocks_;
}

Task<void> StoreWalk::load(std::size_t at, FlashCall call) {
  WalkedBlock& block = blocks_[at];
  for (unsigned tries = 0; tries < kTriesMax; ++tries) {
    const Slot slot = state_->index().find(places_[at].id);
    if (slot == kNoSlot || !state_->index().entry(slot).present()) {
      block.status = fail(Errc::kNotFound, "the block is gone meanwhile");
      co_return;
    }
    const IndexEntry entry = state_->index().entry(slot);
    if (!entry.on_flash()) {
      block.status = copy_from_dram(at, entry);
      co_return;
    }
    block.status = co_await load_from_flash(at, entry.flash_page, call);
    if (block.status) co_return;
    const Slot now = state_->index().find(places_[at].id);
    if (now != kNoSlot && state_->index().entry(now).flash_page == entry.flash_page) co_return;
  }
}

Task<Status> StoreWalk::load_from_flash(std::size_t at, FlashPage page, FlashCall call) {
  WalkedBlock& block = blocks_[at];
  FOREBAY_CO_TRY(names, co_await state_->flash->names_of(page, call));
  if (ShortId::of(names.id) != places_[at].id) {
    co_return fail(Errc::kCorrupt, "record: another block");
  }
  if (names.data_bytes != block.data_bytes)
    co_return fail(Errc::kCorrupt, "record: another length");
  block.id = names.id;
  block.parent = names.parent;
  block.space = {names.tenant, names.layout_fingerprint};
  block.engine_key = std::move(names.engine_key);
  block.token_count = names.token_count;
  block.chain_depth = names.chain_depth;
  std::array<FlashRead, 1> read;
  read[0].page = page;
  read[0].id = block.id;
  read[0].data_bytes = block.data_bytes;
  read[0].data = {.pieces = std::span(&memory_->pieces[at], 1), .owner = memory_};
  co_await state_->flash->read(read, call);
  if (read[0].status) block.data = memory_of(at);
  co_return read[0].status;
}

Status StoreWalk::copy_from_dram(std::size_t at, const IndexEntry& entry) {
  WalkedBlock& block = blocks_[at];
  const DramHeader& header = state_->residency->dram()->header(entry.dram_block);
  if (header.engine_key_bytes == 0) {
    return fail(Errc::kUnsupported, "the block is in DRAM alone, without its engine key");
  }
  const std::byte* key = header.engine_key.get();
  block.id = header.id;
  block.parent = header.parent;
  block.engine_key.assign(key, key + header.engine_key_bytes);
  block.token_count = header.token_count;
  block.chain_depth = header.chain_depth;
  const auto bytes = state_->residency->dram()->bytes(entry.dram_block);
  std::memcpy(memory_of(at).data(), bytes.data(), block.data_bytes);
  block.data = memory_of(at);
  return {};
}

}  // namespace

std::unique_ptr<BlockWalk> walk_blocks(SharedState state, std::string tenant) {
  return std::make_unique<StoreWalk>(std::move(state), std::move(tenant));
}

}  // namespace forebay::store
