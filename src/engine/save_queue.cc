#include "engine/save_queue.h"

#include <algorithm>
#include <utility>

namespace forebay::engine {
namespace {

constexpr std::size_t kWorkersMax = 4;

}  // namespace

SaveQueue::SaveQueue(std::shared_ptr<EngineContext> context, std::function<void()> on_slots_back)
    : context_(std::move(context)),
      on_slots_back_(std::move(on_slots_back)),
      bytes_max_(std::min(context_->options.save_in_flight_bytes_max,
                          context_->pool->block_count() * context_->block_bytes / 4)) {}

std::uint64_t SaveQueue::room_blocks() const {
  return (bytes_max_ - std::min(bytes_max_, in_flight_bytes_)) / context_->block_bytes;
}

void SaveQueue::give_back(const std::vector<SaveItem>& items) {
  for (auto item = items.rbegin(); item != items.rend(); ++item)
    context_->pool->release(item->slot);
}

void SaveQueue::offer(std::vector<SaveItem> items, std::uint64_t op_id) {
  const std::size_t taken = std::min<std::size_t>(items.size(), room_blocks());
  context_->result.save_dropped_blocks += items.size() - taken;
  while (items.size() > taken) {
    context_->pool->release(items.back().slot);
    items.pop_back();
  }
  if (items.empty()) return;
  in_flight_bytes_ += taken * context_->block_bytes;
  context_->result.saved_blocks += taken;
  pending_.push_back({std::move(items), op_id});
  if (worker_count_ == kWorkersMax) return;
  ++worker_count_;
  context_->loop->spawn(work(shared_from_this()));
}

void SaveQueue::stop() {
  on_slots_back_ = nullptr;
  for (const Job& job : pending_) give_back(job.items);
  pending_.clear();
}

Task<void> SaveQueue::work(std::shared_ptr<SaveQueue> self) {
  EngineContext& context = *self->context_;
  while (!self->pending_.empty()) {
    const Job job = std::move(self->pending_.front());
    self->pending_.pop_front();
    std::vector<KvBlock> blocks;
    blocks.reserve(job.items.size());
    for (const SaveItem& item : job.items) {
      blocks.push_back({.id = item.id,
                        .parent = item.parent,
                        .name = item.name,
                        .token_count = context.options.block_tokens,
                        .chain_depth = item.chain_depth,
                        .bytes = context.pool->bytes(item.slot),
                        .owner = nullptr});
    }
    co_await context.backend->save(blocks, job.op_id);
    ++context.version;
    self->give_back(job.items);
    self->in_flight_bytes_ -= job.items.size() * context.block_bytes;
    if (self->on_slots_back_) self->on_slots_back_();
  }
  --self->worker_count_;
  if (self->on_slots_back_) self->on_slots_back_();
}

}  // namespace forebay::engine
