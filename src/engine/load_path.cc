#include "engine/load_path.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace forebay::engine {

struct LoadPath::Load {
  LoadPath* path = nullptr;  // null once settled or abandoned
  Sequence* sequence = nullptr;
  std::uint64_t op_id = 0;
  std::uint64_t budget_bytes = 0;
  Nanos start{0};
  Nanos deadline{0};
  io::Loop::Timer deadline_timer;
  std::vector<KvBlock> blocks;
};

LoadPath::LoadPath(std::shared_ptr<EngineContext> context, OnSettled on_settled,
                   std::function<void()> on_call_ended)
    : context_(std::move(context)),
      budget_(std::make_shared<Budget>()),
      on_settled_(std::move(on_settled)) {
  budget_->on_call_ended = std::move(on_call_ended);
  budget_->bytes_max = std::min(context_->options.load_in_flight_bytes_max,
                                context_->pool->block_count() * context_->block_bytes / 2);
}

LoadPath::~LoadPath() {
  abandon_all();
  budget_->on_call_ended = nullptr;
}

bool LoadPath::has_room(std::uint64_t bytes) const {
  return budget_->in_flight_bytes == 0 || budget_->in_flight_bytes + bytes <= budget_->bytes_max;
}

void LoadPath::start(Sequence& sequence, std::size_t first, std::size_t count) {
  auto load = std::make_shared<Load>();
  load->path = this;
  load->sequence = &sequence;
  load->op_id = sequence.request->index + 1;
  load->budget_bytes = count * context_->block_bytes;
  load->start = context_->loop->now();
  load->deadline = load->start + context_->options.load_deadline;
  load->blocks.reserve(count);
  for (std::size_t i = first; i < first + count; ++i) {
    const Slot slot = sequence.slots[i];
    load->blocks.push_back({.id = sequence.blocks.ids[i],
                            .parent = i == 0 ? store::kNoParent : sequence.blocks.ids[i - 1],
                            .name = sequence.blocks.names[i],
                            .token_count = context_->options.block_tokens,
                            .chain_depth = static_cast<std::uint32_t>(i),
                            .bytes = context_->pool->bytes(slot),
                            .owner = context_->pool->lease(slot)});
  }
  budget_->in_flight_bytes += load->budget_bytes;
  ++budget_->calls_in_flight;
  loads_.emplace(load.get(), load);
  arm_deadline(load, load->deadline);
  context_->loop->spawn(run(context_, budget_, std::move(load)));
}

// The backend is told the same deadline and may answer at that very instant: its timers, armed
// after this one, get their turn first.
void LoadPath::arm_deadline(const std::shared_ptr<Load>& load, Nanos at) {
  std::weak_ptr<Load> weak = load;
  context_->loop->arm(load->deadline_timer, at, [this, weak, at] {
    const auto late = weak.lock();
    if (!late || late->path == nullptr) return;
    context_->loop->arm(late->deadline_timer, at, [this, weak] {
      const auto later = weak.lock();
      if (!later || later->path == nullptr) return;
      ++context_->result.load_timeouts;
      LoadOutcome outcome;
      outcome.timed_out = true;
      settle(*later, outcome);
    });
  });
}

void LoadPath::release_budget(Sequence& sequence) {
  budget_->in_flight_bytes -= std::exchange(sequence.load_bytes, 0);
}

void LoadPath::abandon_all() {
  for (auto& [key, load] : loads_) {
    load->path = nullptr;
    load->deadline_timer.cancel();
  }
  loads_.clear();
}

void LoadPath::settle(Load& load, const LoadOutcome& outcome) {
  load.path = nullptr;
  load.deadline_timer.cancel();
  Sequence& sequence = *load.sequence;
  // A load that was given up keeps its bytes in the budget until its call ends.
  if (!outcome.timed_out) sequence.load_bytes = std::exchange(load.budget_bytes, 0);
  const auto keep = loads_.extract(&load);
  on_settled_(sequence, outcome);
}

Task<void> LoadPath::run(std::shared_ptr<EngineContext> context, std::shared_ptr<Budget> budget,
                         std::shared_ptr<Load> load) {
  // One turn later, so that start() never settles from inside.
  co_await context->loop->yield();
  LoadOutcome outcome;
  outcome.report = co_await context->backend->load(load->blocks, load->op_id, load->deadline);
  --budget->calls_in_flight;
  if (load->path != nullptr) {
    load->deadline_timer.cancel();
    outcome.good_blocks = std::min(outcome.report.leading_blocks, load->blocks.size());
    co_await cross_link(context.get(), budget.get(), load->start,
                        outcome.good_blocks * context->block_bytes);
  }
  if (load->path != nullptr) {
    load->sequence->phase.enter(Phase::kOther, context->loop->now());
    co_await check(context.get(), load.get(), &outcome);
  }
  // What a device may still write into keeps its own lease.
  load->blocks.clear();
  if (load->path != nullptr) load->path->settle(*load, outcome);
  budget->in_flight_bytes -= load->budget_bytes;
  if (budget->on_call_ended) budget->on_call_ended();
}

Task<void> LoadPath::cross_link(EngineContext* context, Budget* budget, Nanos start,
                                std::uint64_t bytes) {
  const double rate = context->options.link_bytes_per_second;
  if (rate <= 0 || bytes == 0) co_return;
  const Nanos took{std::llround(static_cast<double>(bytes) * 1e9 / rate)};
  budget->link_free_at = std::max(start, budget->link_free_at) + took;
  if (budget->link_free_at > context->loop->now()) {
    co_await context->loop->sleep_until(budget->link_free_at);
  }
}

Task<void> LoadPath::check(EngineContext* context, Load* load, LoadOutcome* outcome) {
  const std::size_t delivered = outcome->good_blocks;
  for (std::size_t next = 0; next < delivered;) {
    if (next > 0) co_await context->loop->yield();
    if (load->path == nullptr) co_return;
    next = check_slice(*context, std::span(load->blocks).first(delivered), next, *outcome);
  }
}

// Returns the block after the slice; good_blocks ends at the first wrong one.
std::size_t LoadPath::check_slice(EngineContext& context, std::span<const KvBlock> blocks,
                                  std::size_t from, LoadOutcome& outcome) {
  const CpuMeter meter(context);
  std::uint64_t bytes = 0;
  std::size_t i = from;
  for (; i < blocks.size() && bytes < kContentSliceBytes; ++i) {
    bytes += blocks[i].bytes.size();
    if (!check_content(blocks[i].bytes, context.key_of(blocks[i].name))) continue;
    ++outcome.wrong_blocks;
    outcome.good_blocks = std::min(outcome.good_blocks, i);
  }
  context.result.checked_bytes += bytes;
  return i;
}

}  // namespace forebay::engine
