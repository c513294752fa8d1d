#include "engine/backend_store.h"

#include <utility>

#include "core/bytes.h"
#include "core/log.h"

namespace forebay::engine {
namespace {

// The iovec of a lent block and the block's own keeper, in one allocation that lives as long as the
// store wants it.
struct Loan {
  iovec piece{};
  std::shared_ptr<const void> owner;
};

store::LentBuffer lend(const KvBlock& block) {
  auto loan = std::make_shared<Loan>();
  loan->piece = {.iov_base = block.bytes.data(), .iov_len = block.bytes.size()};
  loan->owner = block.owner;
  const std::span<const iovec> pieces(&loan->piece, 1);
  return {.pieces = pieces, .owner = std::move(loan)};
}

}  // namespace

Result<std::unique_ptr<BackendStore>> BackendStore::make(io::Loop* loop, std::string name,
                                                         std::unique_ptr<store::Store> store,
                                                         const store::KeySpace& space) {
  FOREBAY_TRY(space_id, store->register_space(space));
  return std::unique_ptr<BackendStore>(
      new BackendStore(loop, std::move(name), std::move(store), space_id));
}

BackendStore::BackendStore(io::Loop* loop, std::string name, std::unique_ptr<store::Store> store,
                           store::SpaceId space)
    : loop_(loop), name_(std::move(name)), store_(std::move(store)), space_(space) {}

KvLookup BackendStore::lookup(std::span<const store::BlockId> chain) {
  const store::LookupResult found = store_->lookup(chain, space_);
  return {.present_blocks = found.present_blocks, .worth_blocks = found.worth_blocks};
}

Task<KvLoad> BackendStore::load(std::span<KvBlock> blocks, std::uint64_t op_id, Nanos deadline) {
  const Nanos start = loop_->now();
  std::vector<store::GetItem> items(blocks.size());
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    items[i].id = blocks[i].id;
    items[i].buffer = lend(blocks[i]);
  }
  store::CallOptions call;
  call.space = space_;
  call.deadline = deadline;
  call.cancel = &interrupted_;
  call.op_id = op_id;
  const store::GetSummary summary = co_await store_->get(items, call);
  KvLoad report;
  report.leading_blocks = summary.leading_blocks;
  report.blocks_by_tier = summary.blocks_by_tier;
  report.bytes_by_tier = summary.bytes_by_tier;
  report.device_wait = summary.device_wait;
  note_load(report, blocks.size(), op_id, start);
  co_return report;
}

// One row a tier, since a row has one tier; what was not delivered stands in a row of its own.
void BackendStore::note_load(const KvLoad& report, std::size_t asked, std::uint64_t op_id,
                             Nanos start) {
  KvOp op;
  op.op_id = op_id;
  op.start = start;
  op.end = loop_->now();
  std::size_t delivered = 0;
  for (const store::Tier tier : {store::Tier::kDram, store::Tier::kFlash}) {
    const auto at = static_cast<std::size_t>(tier);
    if (report.blocks_by_tier[at] == 0) continue;
    op.tier = tier;
    op.bytes = report.bytes_by_tier[at];
    op.block_count = static_cast<std::uint32_t>(report.blocks_by_tier[at]);
    delivered += report.blocks_by_tier[at];
    ops_.add(op);
  }
  if (delivered >= asked) return;
  op.tier = store::Tier::kNone;
  op.bytes = 0;
  op.block_count = 0;
  op.failed_blocks = static_cast<std::uint32_t>(asked - delivered);
  ops_.add(op);
}

Task<void> BackendStore::save(std::span<KvBlock> blocks, std::uint64_t op_id) {
  KvOp op;
  op.op_id = op_id;
  op.write = true;
  op.tier = store::Tier::kDram;
  op.start = loop_->now();
  std::vector<store::PutItem> items(blocks.size());
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    items[i].id = blocks[i].id;
    items[i].parent = blocks[i].parent;
    items[i].engine_key = bytes_of(blocks[i].name);
    items[i].data = lend(blocks[i]);
    items[i].token_count = blocks[i].token_count;
    items[i].chain_depth = blocks[i].chain_depth;
  }
  store::CallOptions call;
  call.space = space_;
  call.op_class = block::OpClass::kWriteBack;
  call.cancel = &interrupted_;
  call.op_id = op_id;
  co_await store_->put(items, call);
  op.end = loop_->now();
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    if (items[i].status) {
      ++op.block_count;
      op.bytes += blocks[i].bytes.size();
    } else {
      ++op.failed_blocks;
    }
  }
  ops_.add(op);
}

void BackendStore::prefetch(std::span<const store::BlockId> chain, std::uint64_t op_id) {
  store::CallOptions call;
  call.space = space_;
  call.op_class = block::OpClass::kPrefetch;
  call.cancel = &interrupted_;
  call.op_id = op_id;
  store_->prefetch(chain, call);
}

Task<void> BackendStore::drain() {
  if (const Status flushed = co_await store_->flush(); !flushed) {
    log_warn("{}: flush: {}", name_, to_string(flushed.error()));
  }
}

Task<void> BackendStore::close() {
  if (const Status closed = co_await store_->close(); !closed) {
    log_warn("{}: close: {}", name_, to_string(closed.error()));
  }
}

}  // namespace forebay::engine
